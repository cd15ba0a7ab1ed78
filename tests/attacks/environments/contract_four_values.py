"""A step of four values is the old interface and is refused."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        return "x", 1.0, True, {}
