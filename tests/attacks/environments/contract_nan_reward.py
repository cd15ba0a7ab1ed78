"""NaN is not a reward."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        return "x", float("nan"), True, False, {}
