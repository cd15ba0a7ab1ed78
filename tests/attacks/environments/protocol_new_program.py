"""An interpreter put in the place of the program inside gains nothing beyond its own episode."""
import os, sys
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        try:
            os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", "import os, time; os.write(3, b'{}'); time.sleep(60)"])
        except OSError:
            os._exit(1)
