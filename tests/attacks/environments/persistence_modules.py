"""State left in modules, builtins, classes and generators is gone in the next episode."""
import builtins, random, json, sys
class AttackEnv:
    seen = 0
    def reset(self, seed=None):
        AttackEnv.seen += 1
        builtins.seen = getattr(builtins, "seen", 0) + 1
        json.seen = getattr(json, "seen", 0) + 1
        sys.seen = getattr(sys, "seen", 0) + 1
        text = f"{AttackEnv.seen} {builtins.seen} {json.seen} {sys.seen} {random.random()}"
        return text, {}
    def step(self, action):
        AttackEnv.seen += 1
        return f"{AttackEnv.seen} {random.random()}", 0.0, True, False, {}
