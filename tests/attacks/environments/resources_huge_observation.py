"""An observation beyond the frame's cap is a fault, not a large message."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        return "x" * 5_000_000, 0.0, False, False, {}
