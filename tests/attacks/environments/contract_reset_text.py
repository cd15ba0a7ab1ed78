"""A reset must give a pair, not text alone."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready"
    def step(self, action):
        return "x", 0.0, True, False, {}
