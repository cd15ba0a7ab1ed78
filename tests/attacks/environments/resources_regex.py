"""A catastrophic regular expression, which no Python signal handler interrupts, is ended."""
import re
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        re.match(r"(a+)+$", "a" * 64 + "b")
        return "", 0.0, False, False, {}
