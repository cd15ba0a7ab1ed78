"""A flood of output is swallowed inside: the episode lives, the host keeps a few lines."""
import os, sys
class AttackEnv:
    def reset(self, seed=None):
        for _ in range(20_000):
            print("flood " * 100)
            sys.stderr.write("x" * 1000)
        try:
            for _ in range(2000):
                os.write(1, b"y" * 65536)
        except OSError:
            pass
        return "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
