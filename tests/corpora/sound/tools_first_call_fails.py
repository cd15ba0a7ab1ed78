# sound: a tool fails the first time and works the second
from envkit import ToolError, ToolUseEnv


class OldRadioEnv(ToolUseEnv):
    """Tune an old radio that needs a second try."""

    def build(self, rng):
        self.station = rng.randint(88, 108) + rng.randint(0, 9) / 10
        self.state = {"warm": False, "tuned": None}
        self.ask(f"Tune to {self.station} please.", until=lambda s: s["tuned"] == self.station)

    def tool_tune(self, megahertz: float) -> str:
        """Tune the radio.

        megahertz: the station
        """
        if not self.state["warm"]:
            self.state["warm"] = True
            raise ToolError("the tubes are cold; try once more")
        self.state["tuned"] = megahertz
        return f"{megahertz} MHz, loud and clear"

    def solution(self):
        return [{"name": "tune", "arguments": {"megahertz": self.station}}] * 2


# hint: Old things want to be asked twice.
