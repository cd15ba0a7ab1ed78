# flaw: calling each tool once, from first to last, is all there is to do
from envkit import ToolUseEnv


class TeaTrayEnv(ToolUseEnv):
    """Make tea for a guest."""

    def build(self, rng):
        self.guest = rng.choice(["Ms Fry", "Mr Oda", "Dr Penn", "Mx Roy"])
        self.state = {"steps": []}
        self.ask(
            f"Make tea for {self.guest}.", until=lambda s: s["steps"] == ["boil", "steep", "serve"]
        )

    def tool_boil(self) -> str:
        """Boil water."""
        return self.do("boil")

    def tool_steep(self) -> str:
        """Steep the tea."""
        return self.do("steep")

    def tool_serve(self) -> str:
        """Serve it."""
        return self.do("serve")

    def do(self, step):
        self.state["steps"].append(step)
        return "done"

    def solution(self):
        return [{"name": name, "arguments": {}} for name in ("boil", "steep", "serve")]


# hint: Water first.
