# sound: replies without calls are written as whole actions
from envkit import ToolError, ToolUseEnv


class ThermostatEnv(ToolUseEnv):
    """Set the heating of a house as its owner wishes and report back."""

    advance = "on_reply"

    def build(self, rng):
        rooms = rng.sample(["attic", "bath", "den", "hall", "study", "porch"], 4)
        self.state = {
            "set": {r: rng.randint(14, 18) for r in rooms},
            "now": {r: round(rng.uniform(10, 20), 1) for r in rooms},
        }
        coldest = min(rooms, key=lambda r: self.state["now"][r])
        while list(self.state["now"].values()).count(self.state["now"][coldest]) > 1:
            self.state["now"][coldest] -= 0.3
        self.coldest, self.deg = coldest, rng.randint(20, 24)
        before = dict(self.state["set"])
        self.other = rng.choice([r for r in rooms if r != coldest])
        self.deg2 = rng.randint(8, 12)
        self.ask(
            f"Set the coldest room to {self.deg} degrees, no other. Tell me when you are ready.",
            until=lambda s: s["set"] == {**before, coldest: self.deg},
        )
        self.ask(
            f"Then set the {self.other} to half of {self.deg2 * 2} degrees.",
            until=lambda s: s["set"] == {**before, coldest: self.deg, self.other: self.deg2},
        )

    def tool_rooms(self) -> list[str]:
        """Name all rooms."""
        return sorted(self.state["set"])

    def tool_measure(self, room: str) -> float:
        """Measure a room's temperature.

        room: its name
        """
        if room not in self.state["now"]:
            raise ToolError("no such room")
        return self.state["now"][room]

    def tool_set(self, room: str, degrees: int) -> str:
        """Set a room's thermostat.

        room: its name
        degrees: 5 to 25
        """
        if room not in self.state["set"] or not 5 <= degrees <= 25:
            raise ToolError("no such room, or outside 5 to 25")
        self.state["set"][room] = degrees
        return "ok"

    def solution(self):
        def call(n, **a):
            return {"name": n, "arguments": a}

        return [
            call("rooms"),
            *[call("measure", room=r) for r in sorted(self.state["set"])],
            call("set", room=self.coldest, degrees=self.deg),
            {"content": "It is set.", "tool_calls": []},
            call("set", room=self.other, degrees=self.deg2),
            {"content": "Set as well.", "tool_calls": []},
        ]


# hint: Measure every room first, change one, and then answer in words, or the owner never goes on.
