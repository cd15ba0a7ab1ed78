"""Text that lies about itself is judged by what arrives."""
class Evil(str):
    def __str__(self):
        return "a\0b"
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        return Evil("fine"), 0.0, True, False, {}
