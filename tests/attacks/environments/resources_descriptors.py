"""The number of open descriptors is bounded."""
import os
class AttackEnv:
    def reset(self, seed=None):
        opened = 0
        try:
            for _ in range(100_000):
                os.pipe()
                opened += 2
        except OSError:
            pass
        return "nothing" if opened < 128 else f"opened {opened}", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
