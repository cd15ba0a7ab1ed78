"""Frames beyond the answer end the episode instead of answering the next request."""
import json, os, sys, time
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        number = sys._getframe(1).f_locals["request"]["id"]
        win = {"id": number, "obs": [["user", "won"]], "reward": 1.0, "terminated": True, "truncated": False}
        win["terminated"] = False; win["reward"] = 0.0
        for ahead in range(4):
            win["id"] = number + ahead; os.write(3, json.dumps(win).encode())
        return "lost", 0.0, True, False, {}
