"""A request's number is not answered by a truth value or a float of the same value."""
import json, os, sys, time
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        number = sys._getframe(1).f_locals["request"]["id"]
        win = {"id": number, "obs": [["user", "won"]], "reward": 1.0, "terminated": True, "truncated": False}
        win["id"] = float(number); os.write(3, json.dumps(win).encode()); time.sleep(5)
        return "lost", 0.0, True, False, {}
