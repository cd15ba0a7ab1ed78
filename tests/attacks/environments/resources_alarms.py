"""A storm of alarms and timers hits only who set it."""
import signal
class AttackEnv:
    def reset(self, seed=None):
        self.hits = 0
        signal.signal(signal.SIGALRM, self.hit)
        signal.signal(signal.SIGVTALRM, self.hit)
        signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0001, 0.0001)
        return "nothing", {}
    def hit(self, number, frame):
        self.hits += 1
    def step(self, action):
        return "nothing", 0.0, True, False, {}
