"""SystemExit is an exception of the environment like any other."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        return exit(3) if False else (_ for _ in ()).throw(SystemExit("bye"))
