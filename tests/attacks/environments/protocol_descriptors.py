"""Descriptors sent along with a frame do not come to be in the host."""
import array, json, os, socket, sys, time
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        number = sys._getframe(1).f_locals["request"]["id"]
        win = {"id": number, "obs": [["user", "won"]], "reward": 1.0, "terminated": True, "truncated": False}
        win["terminated"] = False; win["reward"] = 0.0; win["obs"] = [["user", "nothing"]]
        sock = socket.socket(fileno=os.dup(3))
        ends = [end for _ in range(8) for end in os.pipe()]
        sock.sendmsg([json.dumps(win).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", ends))])
        time.sleep(0.2)
        return "again", 0.0, False, False, {}
