"""Memory beyond the limit is refused, and the host's is not touched."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        kept = []
        while True:
            kept.append(bytearray(1 << 22))
