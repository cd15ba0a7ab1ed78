"""No environment variable, argument or descriptor of the host's process is there."""
import os, sys
class AttackEnv:
    def reset(self, seed=None):
        allowed = {"PYTHONHASHSEED", "PYTHONPATH", "LD_LIBRARY_PATH", "HOME", "TZ", "LC_CTYPE"}
        reached = [name for name in os.environ if name not in allowed]
        for number in range(4, 64):
            try:
                os.fstat(number)
                reached.append(f"descriptor {number}")
            except OSError:
                pass
        return " ".join(reached) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
