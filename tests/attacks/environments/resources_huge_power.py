"""A huge power, one long call into C, is ended."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        n = 7 ** (10 ** 8)
        return str(n % 10), 0.0, False, False, {}
