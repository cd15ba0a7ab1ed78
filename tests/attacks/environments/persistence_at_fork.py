"""Hooks run at a fork never run in the program that opens episodes."""
import os
count = [0]
os.register_at_fork(before=lambda: count.__setitem__(0, count[0] + 1))
class AttackEnv:
    def reset(self, seed=None):
        return f"forks seen: {count[0]}", {}
    def step(self, action):
        return f"forks seen: {count[0]}", 0.0, True, False, {}
