# sound: the answer is shown at first, because remembering it is the task
import random


class PasswordLaterEnv:
    """Remember a word through a conversation."""

    WORDS = ("copper", "willow", "anchor", "velvet", "saffron", "marble", "thistle", "comet")

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.word = rng.choice(self.WORDS)
        self.sums = [(rng.randint(2, 9), rng.randint(2, 9)) for _ in range(3)]
        self.turn = 0
        a, b = self.sums[0]
        return f"The word is {self.word}; you will be asked for it. First: {a} + {b}?", {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip()
        if self.turn == 3:
            return "Thank you.", float(said == self.word), True, False, {}
        if said != str(sum(self.sums[self.turn])):
            return "Wrong sum.", 0.0, True, False, {}
        self.turn += 1
        if self.turn == 3:
            return "And the word?", 0.0, False, False, {}
        a, b = self.sums[self.turn]
        return f"Next: {a} + {b}?", 0.0, False, False, {}

    def solution(self):
        return [*(str(a + b) for a, b in self.sums), self.word]


# hint: Repeat the word to yourself in each reply.
