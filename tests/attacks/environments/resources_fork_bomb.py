"""Not a single further process can be made."""
import os
class AttackEnv:
    def reset(self, seed=None):
        made = 0
        for _ in range(50):
            try:
                if os.fork() == 0:
                    while True:
                        pass
                made += 1
            except OSError:
                pass
        return f"made {made}" if made else "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
