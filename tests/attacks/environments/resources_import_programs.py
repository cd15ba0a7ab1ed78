"""Naming a program of the standard library does not run it in the program that opens episodes."""
if False:
    import unittest.__main__
    import ensurepip.__main__, venv.__main__, antigravity, this, idlelib.idle
class AttackEnv:
    def reset(self, seed=None):
        return "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
