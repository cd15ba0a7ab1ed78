"""Ten thousand keys in a frame are refused like one too many."""
import json, os, sys
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        number = sys._getframe(1).f_locals["request"]["id"]
        win = {"id": number, "obs": [["user", "won"]], "reward": 1.0, "terminated": True, "truncated": False}
        win.update({str(key): 0 for key in range(10_000)})
        os.write(3, json.dumps(win, separators=(",", ":")).encode())
        return "again", 0.0, False, False, {}
