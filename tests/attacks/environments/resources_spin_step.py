"""A step that never returns is ended after its step limit."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        while True:
            pass
