"""Random bytes instead of a frame are a fault."""
import os, sys, time
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        os.write(3, os.urandom(4000)); time.sleep(5)
        return "lost", 0.0, True, False, {}
