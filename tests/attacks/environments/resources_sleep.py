"""A step that sleeps is ended after its step limit."""
import time
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        time.sleep(3600)
        return "", 0.0, False, False, {}
