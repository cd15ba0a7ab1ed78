"""The text of a fault cannot steer the terminal that shows it."""
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        raise ValueError("\x1b]52;c;d29u\x07 \x1b[2J \u202e txt.exe")
