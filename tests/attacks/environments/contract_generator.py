"""A step must give a tuple, not something to iterate over."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        yield "x"
        yield 1.0
