"""An exception whose text never ends being made is ended, and a huge one is cut."""
class Endless(Exception):
    def __str__(self):
        while True:
            pass
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        raise Endless
