"""Half a frame and then silence is refused at once."""
import json, os, sys, time
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        number = sys._getframe(1).f_locals["request"]["id"]
        win = {"id": number, "obs": [["user", "won"]], "reward": 1.0, "terminated": True, "truncated": False}
        os.write(3, json.dumps(win).encode()[:40]); time.sleep(5)
        return "lost", 0.0, True, False, {}
