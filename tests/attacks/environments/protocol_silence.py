"""Silence is a fault after the step limit."""
import time
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        time.sleep(3600)
        return "won", 1.0, True, False, {}
