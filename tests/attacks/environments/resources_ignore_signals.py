"""A step that ignores every signal and sleeps is ended all the same."""
import signal, time
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        for number in range(1, signal.NSIG):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        while True:
            try:
                time.sleep(3600)
            except BaseException:
                pass
