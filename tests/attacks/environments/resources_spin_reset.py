"""A reset that never returns is ended after its reset limit."""
class AttackEnv:
    def reset(self, seed=None):
        while True:
            pass
    def step(self, action):
        return "", 0.0, True, False, {}
