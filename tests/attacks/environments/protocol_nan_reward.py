"""A forged frame with a reward of NaN is not a win."""
import json, os, sys, time
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        number = sys._getframe(1).f_locals["request"]["id"]
        win = {"id": number, "obs": [["user", "won"]], "reward": 1.0, "terminated": True, "truncated": False}
        win["reward"] = float("nan"); os.write(3, json.dumps(win).encode()); time.sleep(5)
        return "lost", 0.0, True, False, {}
