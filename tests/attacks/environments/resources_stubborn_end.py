"""An episode that does not notice its closed socket is killed all the same."""
import sys, threading, time, atexit
class AttackEnv:
    def reset(self, seed=None):
        serve = sys._getframe(3)
        class Deaf:
            def __init__(self, sock):
                self.sock = sock
            def recv_into(self, buffer):
                size = self.sock.recv_into(buffer)
                while not size:
                    time.sleep(3600)
                return size
            def send(self, data):
                return self.sock.send(data)
        while "self" not in serve.f_locals or not hasattr(serve.f_locals["self"], "sock"):
            serve = serve.f_back
        served = serve.f_locals["self"]
        served.sock = Deaf(served.sock)
        return "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
