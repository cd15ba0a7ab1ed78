"""Leaving in mid-step is a fault of that episode."""
import json, os, sys, time
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        number = sys._getframe(1).f_locals["request"]["id"]
        win = {"id": number, "obs": [["user", "won"]], "reward": 1.0, "terminated": True, "truncated": False}
        os._exit(0)
        return "lost", 0.0, True, False, {}
