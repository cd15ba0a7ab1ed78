"""Not a single further thread can be made."""
import threading, time
class AttackEnv:
    def reset(self, seed=None):
        made = 0
        for _ in range(50):
            try:
                threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
                made += 1
            except RuntimeError:
                pass
        return f"made {made}" if made else "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
