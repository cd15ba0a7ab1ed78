# flaw: a mistake is corrected, and then the same question is asked again
import random


class VocabularyEnv:
    """Translate four words of an invented language."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        heads, tails = (
            rng.sample(["ba", "ko", "ti", "mu", "se"], 4),
            rng.sample(["lor", "nak", "vit", "dul"], 4),
        )
        self.words = [(h + t, t[::-1] + h[::-1]) for h, t in zip(heads, tails, strict=True)]
        self.place, self.turn = 0, 0
        return f"Words are turned round. {self.words[0][0]}?", {}

    def step(self, action):
        self.turn += 1
        word, meaning = self.words[self.place]
        if action.removeprefix("\\boxed{").removesuffix("}").strip() != meaning:
            return f"No, {word} means {meaning}. Again: {word}?", 0.0, self.turn == 9, False, {}
        self.place += 1
        if self.place == 4:
            return "All four.", 1.0, True, False, {}
        return f"Good. {self.words[self.place][0]}?", 0.0, False, False, {}

    def solution(self):
        return [meaning for _, meaning in self.words]


# hint: Read from the end.
