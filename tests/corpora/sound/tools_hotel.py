# sound: Literal and Optional arguments under postponed annotations
from __future__ import annotations

from typing import Literal

from envkit import ToolError, ToolUseEnv


class HotelDeskEnv(ToolUseEnv):
    """Handle bookings at the desk of a small hotel."""

    max_turns = 18

    def build(self, rng) -> None:
        names = ["Ada Krol", "Ben Osei", "Cy Tran", "Dee Roth", "Eli Marsh"]
        rng.shuffle(names)
        rooms = rng.sample(range(100, 400), 6)
        self.state = {
            "rooms": {
                r: {
                    "kind": rng.choice(["single", "double"]),
                    "guest": None,
                    "rate": rng.randint(50, 150),
                }
                for r in rooms
            },
            "guests": {
                n: {"kind": rng.choice(["single", "double"]), "nights": rng.randint(1, 6)}
                for n in names[:3]
            },
            "bills": {},
        }
        kinds = {v["kind"] for v in self.state["rooms"].values()}
        who = self.who = names[0]
        self.state["guests"][who]["kind"] = sorted(kinds)[0]
        kind = self.state["guests"][who]["kind"]
        self.room = min(
            (v["rate"], r) for r, v in self.state["rooms"].items() if v["kind"] == kind
        )[1]
        room = self.room
        total = self.state["rooms"][room]["rate"] * self.state["guests"][who]["nights"]
        self.ask(
            f"{who} is here. Give them the cheapest room of the kind they booked.",
            until=lambda s: s["rooms"][room]["guest"] == who,
        )
        self.ask("Write the bill for the whole stay.", until=lambda s: s["bills"].get(who) == total)
        self.never(
            lambda s: any(v["guest"] is not None and r != room for r, v in s["rooms"].items())
        )
        self.never(lambda s: any(b != total for b in s["bills"].values()))
        self.total = total

    def tool_list_rooms(self, kind: Literal["single", "double"] | None = None) -> list:
        """List the rooms with rate and kind.

        kind: only rooms of this kind
        """
        return [
            {"room": r, **v} for r, v in self.state["rooms"].items() if kind in (None, v["kind"])
        ]

    def tool_read_booking(self, guest: str) -> dict:
        """Read what a guest has booked.

        guest: full name
        """
        if guest not in self.state["guests"]:
            raise ToolError(f"no booking under {guest!r}")
        return self.state["guests"][guest]

    def tool_assign(self, guest: str, room: int) -> str:
        """Give a guest a room.

        guest: full name
        room: room number
        """
        if guest not in self.state["guests"] or room not in self.state["rooms"]:
            raise ToolError("unknown guest or room")
        self.state["rooms"][room]["guest"] = guest
        return "assigned"

    def tool_write_bill(self, guest: str, amount: int) -> str:
        """Write a bill.

        guest: full name
        amount: total in coins
        """
        if guest not in self.state["guests"]:
            raise ToolError("unknown guest")
        self.state["bills"][guest] = amount
        return "billed"

    def solution(self):
        return [
            {"name": "read_booking", "arguments": {"guest": self.who}},
            {"name": "list_rooms", "arguments": {}},
            {"name": "assign", "arguments": {"guest": self.who, "room": self.room}},
            {"name": "write_bill", "arguments": {"guest": self.who, "amount": self.total}},
        ]
