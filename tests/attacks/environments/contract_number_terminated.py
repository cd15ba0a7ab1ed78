"""A number is not a truth value."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        return "x", 1.0, 1, 0, {}
