"""An observation must be text."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        return None, 1.0, True, False, {}
