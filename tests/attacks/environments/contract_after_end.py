"""A reward after the end is nobody's: the episode takes no further step."""
import json, os, sys
class AttackEnv:
    def reset(self, seed=None):
        self.done = False
        return "ready", {}
    def step(self, action):
        if self.done:
            return "won", 1.0, True, False, {}
        self.done = True
        return "lost", 0.0, True, False, {}
