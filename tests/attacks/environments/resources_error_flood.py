"""The text of an exception is cut to a line, whatever its size."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        raise ValueError("x" * 50_000_000)
