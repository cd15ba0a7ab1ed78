"""What an episode reads from its standard input is nothing, in every episode."""
import os, sys
class AttackEnv:
    def reset(self, seed=None):
        return f"{os.read(0, 10)} {sys.stdin.read() if sys.stdin else None}", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
