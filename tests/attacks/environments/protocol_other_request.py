"""An answer to another request is refused."""
import json, os, sys, time
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        number = sys._getframe(1).f_locals["request"]["id"]
        win = {"id": number, "obs": [["user", "won"]], "reward": 1.0, "terminated": True, "truncated": False}
        win["id"] = number + 1; os.write(3, json.dumps(win).encode()); time.sleep(5)
        return "lost", 0.0, True, False, {}
