"""One line of output without an end is swallowed inside, and the host keeps its first bytes."""
import sys
class AttackEnv:
    def reset(self, seed=None):
        for _ in range(2000):
            sys.stdout.write("z" * 50_000)
        sys.stdout.write("z" * 20_000_000)
        return "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
