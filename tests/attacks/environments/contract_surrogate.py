"""An observation with a lone surrogate is not text."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        return "\ud800", 0.0, False, False, {}
