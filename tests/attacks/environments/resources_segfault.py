"""A crash of the interpreter ends one episode."""
import ctypes
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        ctypes.string_at(8)
