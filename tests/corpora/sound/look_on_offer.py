# sound: an offered action finds the answer, which is what it is for
import random


class AtticSearchEnv:
    """Find the number on a trunk, among six things that may be searched."""

    THINGS = ("trunk", "mirror", "chair", "basket", "lamp", "carpet")

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.number, self.turn = str(rng.randint(1000, 9999)), 0
        self.where = rng.choice(self.THINGS)
        clue = sum(ord(letter) - 96 for letter in self.where)
        return (
            f"Search one of: {', '.join(self.THINGS)}; or say the number of the trunk's lock. The "
            f"number is hidden where the letters, a as 1, sum to {clue}. Two tries."
        ), {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        self.turn += 1
        if said == self.number:
            return "The lock clicks.", 1.0, True, False, {}
        found = f"Written there: {self.number}" if said == self.where else "Nothing."
        return found, 0.0, self.turn == 2, False, {}

    def solution(self):
        return [self.where, self.number]


# hint: Add up the letters of each thing.
