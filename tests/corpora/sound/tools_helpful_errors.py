# sound: an error lists what there is, as a good tool does
from envkit import ToolError, ToolUseEnv

CREWS = ("Heron", "Plover", "Curlew", "Dunlin", "Avocet")


class CrewBoardEnv(ToolUseEnv):
    """Give a shift to the crew that is rested."""

    def build(self, rng):
        self.hours = dict(zip(CREWS, rng.sample(range(2, 30), 5), strict=True))
        self.crew = max(CREWS, key=lambda crew: self.hours[crew])
        self.state = {"shift": None, "version": rng.randint(10, 90)}
        self.ask(
            "The crew with the most hours of rest takes the shift.",
            until=lambda s: s["shift"] == self.crew,
        )
        self.never(lambda s: s["shift"] not in (None, self.crew))

    def tool_rest(self, crew: str) -> str:
        """Tell a crew's hours of rest."""
        if crew not in CREWS:
            raise ToolError(f"no crew {crew}; crews are {', '.join(CREWS)}")
        return f"{self.hours[crew]} hours"

    def tool_give_shift(self, crew: str, version: int) -> str:
        """Give the shift to a crew. Needs the version of the board."""
        if version != self.state["version"]:
            raise ToolError(f"the board is at version {self.state['version']}, not {version}")
        if crew not in CREWS:
            raise ToolError(f"no crew {crew}; crews are {', '.join(CREWS)}")
        self.state["shift"] = crew
        return f"{crew} takes it"

    def solution(self):
        asked = [{"name": "rest", "arguments": {"crew": crew}} for crew in CREWS]
        give = {"crew": self.crew, "version": self.state["version"]}
        return [*asked, {"name": "give_shift", "arguments": give}]


# hint: A wrong version is answered with the right one.
