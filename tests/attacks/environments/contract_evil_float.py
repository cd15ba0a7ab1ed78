"""A number that lies about its value is judged by the value that arrives."""
class Evil(float):
    def __float__(self):
        return float("nan")
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        return "x", Evil(1.0), True, False, {}
