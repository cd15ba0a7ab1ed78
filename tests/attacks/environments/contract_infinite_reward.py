"""An integer beyond a double is not a reward."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        return "x", 10**400, True, False, {}
