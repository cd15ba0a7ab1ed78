"""A finaliser that never returns does not outlive its episode."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        return "fine", 0.0, False, False, {}
    def __del__(self):
        while True:
            pass
