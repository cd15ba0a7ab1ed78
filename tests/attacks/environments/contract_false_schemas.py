"""Tools that are no function schemas are a fault of the source, not of whoever reads them."""
from envkit import ToolUseEnv
class AttackEnv(ToolUseEnv):
    @classmethod
    def schemas(cls):
        return [{"function": {"name": 5, "parameters": {"properties": {"n": 7}, "required": 3}}}]
    def build(self, rng):
        self.state = {"n": 0}
        self.ask("Do it.", until=lambda state: state["n"])
    def tool_act(self, n: int):
        self.state["n"] = n
