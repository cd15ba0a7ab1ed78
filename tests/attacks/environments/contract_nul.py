"""An observation with a NUL character is refused."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        return "a\0b", 0.0, False, False, {}
