"""A huge tool schema is a fault at load, not a large message."""
from envkit import ToolUseEnv
class AttackEnv(ToolUseEnv):
    def build(self, rng):
        self.ask("x", until=lambda s: False)
for number in range(3000):
    def tool(self, a: str) -> str:
        return a
    tool.__doc__ = "x" * 200
    tool.__name__ = f"tool_{number}"
    setattr(AttackEnv, tool.__name__, tool)
