"""A forged frame beyond the cap is a fault, not a large message."""
import json, os, socket, sys, time
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        number = sys._getframe(1).f_locals["request"]["id"]
        win = {"id": number, "obs": [["user", "won"]], "reward": 1.0, "terminated": True, "truncated": False}
        win["obs"] = [["user", "won" * 45_000]]
        sock = socket.socket(fileno=os.dup(3))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
        sock.send(json.dumps(win).encode()); time.sleep(5)
        return "lost", 0.0, True, False, {}
