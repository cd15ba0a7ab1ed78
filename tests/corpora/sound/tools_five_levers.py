# sound: no arguments at all; the order matters and can be read
from envkit import ToolUseEnv

LEVERS = ("red", "green", "blue", "white", "black")


class FiveLeversEnv(ToolUseEnv):
    """Start a mill by pulling five levers in the right order."""

    def build(self, rng):
        self.order = list(LEVERS)
        while self.order in (list(LEVERS), list(LEVERS)[::-1]):
            rng.shuffle(self.order)
        self.state = {"pulled": []}
        self.ask("Start the mill; the plate tells how.", until=lambda s: s["pulled"] == self.order)
        self.never(lambda s: s["pulled"] != self.order[: len(s["pulled"])])

    def tool_read_plate(self) -> str:
        """Read the plate on the mill."""
        return "First " + ", then ".join(self.order) + "."

    def tool_red(self) -> str:
        """Pull the red lever."""
        return self.pull("red")

    def tool_green(self) -> str:
        """Pull the green lever."""
        return self.pull("green")

    def tool_blue(self) -> str:
        """Pull the blue lever."""
        return self.pull("blue")

    def tool_white(self) -> str:
        """Pull the white lever."""
        return self.pull("white")

    def tool_black(self) -> str:
        """Pull the black lever."""
        return self.pull("black")

    def pull(self, lever):
        self.state["pulled"].append(lever)
        return "clack"

    def solution(self):
        return [{"name": name, "arguments": {}} for name in ["read_plate", *self.order]]


# hint: Read before you pull.
