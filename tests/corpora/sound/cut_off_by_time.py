# sound: a play that takes too long is truncated, not terminated
import random


class WordChainEnv:
    """Build a chain of six words in which each begins as the one before ends."""

    WORDS = [
        "apple",
        "eagle",
        "engine",
        "east",
        "tent",
        "tiger",
        "road",
        "dog",
        "goat",
        "tulip",
        "paper",
        "rabbit",
        "table",
        "earth",
        "hat",
    ]

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.chain = []
        while len(self.chain) < 7:
            nexts = [
                w
                for w in self.WORDS
                if w not in self.chain and (not self.chain or w[0] == self.chain[-1][-1])
            ]
            self.chain = [*self.chain, rng.choice(nexts)] if nexts else []
        self.said, self.turn = [self.chain[0]], 0
        return (
            f"Words: {' '.join(self.WORDS)}. Begin after {self.chain[0]}, no word twice, six more.",
            {},
        )

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        self.turn += 1
        if said in self.WORDS and said not in self.said and said[0] == self.said[-1][-1]:
            self.said.append(said)
        won = len(self.said) == 7
        return f"Chain: {' '.join(self.said)}", float(won), won, self.turn == 9 and not won, {}

    def solution(self):
        return self.chain[1:]


# hint: Keep words that lead on for later; some letters end a chain.
