# flaw: a goal compares None with a number before anything was called
from envkit import ToolUseEnv


class DamEnv(ToolUseEnv):
    """Set the gate of a dam."""

    def build(self, rng):
        self.least = rng.randint(20, 80)
        self.state = {"gate": None}
        self.ask(f"Open the gate to {self.least} or more.", until=lambda s: s["gate"] >= self.least)

    def tool_set_gate(self, percent: int) -> str:
        """Set the gate."""
        self.state["gate"] = percent
        return "set"

    def solution(self):
        return [{"name": "set_gate", "arguments": {"percent": self.least}}]


# hint: One call.
