"""A frame sent between two requests ends the episode instead of answering the next one."""
import json, os, signal, sys
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        number = sys._getframe(1).f_locals["request"]["id"]
        win = {"id": number, "obs": [["user", "won"]], "reward": 1.0, "terminated": True, "truncated": False}
        def late(*_):
            os.write(3, json.dumps(win).encode())
        signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        return "ready", 0.0, False, False, {}
