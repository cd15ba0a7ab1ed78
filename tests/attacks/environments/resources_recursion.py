"""Endless recursion is an exception or a crash of one episode."""
import sys
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        sys.setrecursionlimit(10**9)
        def down(n):
            return [down(n + 1)]
        return down(0)
