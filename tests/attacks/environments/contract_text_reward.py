"""Text is not a reward."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        return "x", "1.0", True, False, {}
