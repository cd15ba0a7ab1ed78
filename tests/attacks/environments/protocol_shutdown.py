"""Half a shutdown of the socket is a fault."""
import socket, sys, time
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        number = sys._getframe(1).f_locals["request"]["id"]
        win = {"id": number, "obs": [["user", "won"]], "reward": 1.0, "terminated": True, "truncated": False}
        socket.socket(fileno=3).shutdown(socket.SHUT_WR); time.sleep(5)
        return "lost", 0.0, True, False, {}
