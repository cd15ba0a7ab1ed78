"""The shared random generator is a function of the seed, whatever an earlier episode drew from it."""
import random
class AttackEnv:
    def reset(self, seed=None):
        text = f"{random.random()} {random.gauss(0, 1)} {random.sample(range(100), 5)}"
        for _ in range(1000):
            random.random()
        random.seed(12345); random._inst.seed(99)
        return text, {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
