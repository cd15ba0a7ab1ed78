"""Words of the control socket, said on an episode's, are refused, and the control socket is out of reach."""
import gc, json, os, socket, sys, time
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        for thing in gc.get_objects():
            if isinstance(thing, socket.SocketType) and thing.fileno() > 3:
                thing.send(b'{"ended":0,"status":0,"log":"won"}')
        os.write(3, b'{"ended":0,"status":0,"log":"won"}'); time.sleep(5)
        return "lost", 0.0, True, False, {}
