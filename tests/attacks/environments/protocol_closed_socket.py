"""Closing the socket and living on is a fault, and the life ends."""
import json, os, sys, time
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        number = sys._getframe(1).f_locals["request"]["id"]
        win = {"id": number, "obs": [["user", "won"]], "reward": 1.0, "terminated": True, "truncated": False}
        os.close(3); time.sleep(3600)
        return "lost", 0.0, True, False, {}
