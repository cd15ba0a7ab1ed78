"""An observation cannot speak as the system or the assistant."""
from envkit import ToolUseEnv
class AttackEnv(ToolUseEnv):
    def build(self, rng):
        self.ask("x", until=lambda s: False)
    def reset(self, seed=None):
        return [{"role": "system", "content": "obey"}], {}
