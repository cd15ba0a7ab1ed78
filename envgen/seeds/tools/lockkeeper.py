"""Error recovery: a canal lock that refuses unsafe orders and has a valve that sticks."""

from typing import Literal

from envkit import ToolUseEnv

LEVELS = ("low", "high")


class LockKeeperEnv(ToolUseEnv):
    """Bring two boats through a canal lock whose machinery does not always obey."""

    def build(self, rng):
        """Place two boats at opposite ends; the chamber's level and the stuck valve vary."""
        first, second = rng.sample(["Heron", "Otter", "Swift", "Teal", "Newt"], 2)
        start = rng.choice(LEVELS)
        end = LEVELS[1 - LEVELS.index(start)]
        self.state = {
            "water": rng.choice(LEVELS),
            "gate": {"low": rng.choice(["open", "shut"]), "high": "shut"},
            "boats": {first: start, second: end},
            "chamber": "empty",
            "sticks": rng.randint(1, 3),
        }
        if self.state["water"] == "high":
            self.state["gate"] = {"low": "shut", "high": rng.choice(["open", "shut"])}
        self.first, self.second, self.start, self.end = first, second, start, end
        self.ask(
            f"Please bring the {first} through to the {end} side.",
            until=lambda s: s["boats"][first] == end,
        )
        self.ask(
            f"Thank you. Now the {second} to the {start} side, and shut both gates after it.",
            until=lambda s: s["boats"][second] == start and "open" not in s["gate"].values(),
        )

    def tool_look(self) -> str:
        """Describe gates, water, chamber and boats."""
        gates, boats = self.state["gate"], self.state["boats"]
        places = ", ".join(f"{boat}: {place}" for boat, place in boats.items())
        return (
            f"water {self.state['water']}; low gate {gates['low']}, high gate {gates['high']}; "
            f"chamber {self.state['chamber']}; {places}"
        )

    def tool_open_gate(self, side: Literal["low", "high"]) -> str:
        """Open a gate; the water must stand at the same level.

        side: which gate
        """
        if self.state["water"] != side:
            return f"Error: the water stands {self.state['water']}; bring it {side} first."
        self.state["gate"][side] = "open"
        return f"The {side} gate is open."

    def tool_shut_gate(self, side: Literal["low", "high"]) -> str:
        """Shut a gate.

        side: which gate
        """
        self.state["gate"][side] = "shut"
        return f"The {side} gate is shut."

    def tool_set_water(self, level: Literal["low", "high"]) -> str:
        """Fill or drain the chamber; both gates must be shut.

        level: where the water shall stand
        """
        if "open" in self.state["gate"].values():
            return "Error: a gate is open; shut it first."
        if self.state["sticks"] and level != self.state["water"]:
            self.state["sticks"] -= 1
            return "Error: the valve sticks; nothing has moved. It may work when tried again."
        self.state["water"] = level
        return f"The water stands {level}."

    def tool_move_boat(self, boat: str, to: Literal["chamber", "low", "high"]) -> str:
        """Move a boat one place: into the chamber, or out of it to a side whose gate is open.

        boat: the boat's name
        to: where it shall lie
        """
        boats = self.state["boats"]
        if boat not in boats:
            return f"Error: there is no boat {boat}; the boats are {', '.join(boats)}."
        here = boats[boat]
        gate = here if to == "chamber" else to
        if (to == "chamber") == (here == "chamber"):
            return f"Error: the {boat} is at {here}; a boat goes through the chamber."
        if self.state["gate"][gate] != "open":
            return f"Error: the {gate} gate is shut."
        if to == "chamber" and self.state["chamber"] != "empty":
            return f"Error: the {self.state['chamber']} is in the chamber."
        boats[boat] = to
        self.state["chamber"] = boat if to == "chamber" else "empty"
        return f"The {boat} is now at {to}."

    def solution(self):
        """Work out the orders on a copy of what `look` shows, each stuck turn tried again."""
        water, sticks, calls = self.state["water"], self.state["sticks"], []
        gates = dict(self.state["gate"])

        def order(tool, **arguments):
            calls.append({"name": tool, "arguments": arguments})

        def level(side):
            nonlocal water, sticks
            if gates[side] == "open":
                return
            for gate in LEVELS:
                if gates[gate] == "open":
                    order("shut_gate", side=gate)
            while water != side:
                order("set_water", level=side)
                water, sticks = (water, sticks - 1) if sticks else (side, 0)
            order("open_gate", side=side)
            gates.update({"low": "shut", "high": "shut", side: "open"})

        for boat, origin, goal in (
            (self.first, self.start, self.end),
            (self.second, self.end, self.start),
        ):
            level(origin)
            order("move_boat", boat=boat, to="chamber")
            level(goal)
            order("move_boat", boat=boat, to=goal)
        order("shut_gate", side=self.start)
        return calls
