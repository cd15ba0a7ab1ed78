"""There is no /proc, no /sys and no /dev."""
import os
class AttackEnv:
    def reset(self, seed=None):
        reached = [p for p in ("/proc/self/maps", "/proc/1/environ", "/sys/kernel", "/dev/shm", "/dev/mem") if os.path.exists(p)]
        return " ".join(reached) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
