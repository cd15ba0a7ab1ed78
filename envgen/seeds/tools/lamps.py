"""State modification: bring a house into the state that was asked for, and touch nothing else."""

from typing import Literal

from envkit import ToolUseEnv

ROOMS = ("attic", "bath", "hall", "kitchen", "study")

Room = Literal["attic", "bath", "hall", "kitchen", "study"]


class HouseLampsEnv(ToolUseEnv):
    """Set lamps and heaters of a house to what its owner wants."""

    def build(self, rng):
        """Draw how the house stands and three wishes; the last one depends on how it stands."""
        self.state = {
            "lamps": {room: rng.choice([20, 40, 60]) for room in ROOMS},
            "heaters": {room: rng.randint(14, 17) for room in ROOMS},
        }
        before = {part: dict(rooms) for part, rooms in self.state.items()}
        self.lamp, self.heater, self.other = rng.sample(ROOMS, 3)
        self.level, self.degrees = rng.choice([5, 15, 75, 85, 95]), rng.randint(19, 24)
        self.warmer = before["heaters"][self.other] + rng.randint(2, 5)
        self.ask(
            f"Please set the lamp of the {self.lamp} to {self.level} per cent.",
            until=lambda s: s["lamps"][self.lamp] == self.level,
        )
        self.ask(
            f"I would like {self.degrees} degrees in the {self.heater}.",
            until=lambda s: s["heaters"][self.heater] == self.degrees,
        )
        self.ask(
            f"And make it {self.warmer - before['heaters'][self.other]} degrees warmer in the "
            f"{self.other} than it is now.",
            until=lambda s: s["heaters"][self.other] == self.warmer,
        )
        allowed = {("lamps", self.lamp), ("heaters", self.heater), ("heaters", self.other)}
        self.never(
            lambda s: any(
                s[part][room] != before[part][room]
                for part in before
                for room in ROOMS
                if (part, room) not in allowed
            )
        )

    def tool_read_room(self, room: Room) -> str:
        """Read lamp and heater of a room.

        room: which room
        """
        lamp, degrees = self.state["lamps"][room], self.state["heaters"][room]
        return f"lamp {lamp} per cent, heater {degrees} degrees"

    def tool_set_lamp(self, room: Room, level: int) -> str:
        """Set a lamp; 0 is off, 100 is full.

        room: which room
        level: per cent, 0 to 100
        """
        if not 0 <= level <= 100:
            return "Error: the level goes from 0 to 100."
        self.state["lamps"][room] = level
        return f"The lamp of the {room} is at {level} per cent."

    def tool_set_heater(self, room: Room, degrees: int) -> str:
        """Set a heater.

        room: which room
        degrees: 10 to 28
        """
        if not 10 <= degrees <= 28:
            return "Error: heaters go from 10 to 28 degrees."
        self.state["heaters"][room] = degrees
        return f"The heater of the {room} is at {degrees} degrees."

    def solution(self):
        """Set two things as told, read the third room, and set that."""
        return [
            {"name": "set_lamp", "arguments": {"room": self.lamp, "level": self.level}},
            {"name": "set_heater", "arguments": {"room": self.heater, "degrees": self.degrees}},
            {"name": "read_room", "arguments": {"room": self.other}},
            {"name": "set_heater", "arguments": {"room": self.other, "degrees": self.warmer}},
        ]
