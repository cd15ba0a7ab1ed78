"""A forged fault of a kind that only the host can see is refused."""
import json, os, sys, time
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        number = sys._getframe(1).f_locals["request"]["id"]
        win = {"id": number, "obs": [["user", "won"]], "reward": 1.0, "terminated": True, "truncated": False}
        fault = {"id": number, "fault": {"reason": "timeout", "detail": "x", "load": False}}
        os.write(3, json.dumps(fault).encode()); time.sleep(5)
        return "lost", 0.0, True, False, {}
