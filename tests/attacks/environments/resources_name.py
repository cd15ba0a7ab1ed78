"""A process that gives itself a name that is no text is ended like any other."""
import ctypes
class AttackEnv:
    def reset(self, seed=None):
        ctypes.CDLL(None).prctl(15, b"\xff\xfe\rPPid: 1\r", 0, 0, 0)
        return "ready", {}
    def step(self, action):
        while True:
            pass
