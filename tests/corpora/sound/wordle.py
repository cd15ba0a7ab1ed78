# sound: feedback in letters; the word is shown only when the play is over
import random

WORDS: list[str] = [
    "apple",
    "beach",
    "chair",
    "dance",
    "eagle",
    "flame",
    "grape",
    "house",
    "ivory",
    "jelly",
    "knife",
    "lemon",
    "mango",
    "night",
    "ocean",
    "piano",
    "queen",
    "river",
    "sugar",
    "tiger",
    "umbra",
    "vivid",
    "water",
    "xenon",
    "yacht",
    "zebra",
    "bread",
    "cloud",
    "dream",
    "earth",
    "frost",
    "ghost",
    "heart",
    "image",
    "juice",
    "koala",
    "light",
    "money",
    "noise",
    "olive",
    "pearl",
    "quilt",
    "radio",
    "stone",
    "trail",
    "urban",
    "voice",
    "whale",
    "youth",
]


class WordleEnv:
    """Guess a hidden five-letter word from coloured feedback."""

    def __init__(self, max_turns: int = 6, **kwargs):
        self.max_turns = max_turns
        self.secret = ""
        self.turn = 0

    def reset(self, seed=None) -> tuple[str, dict]:
        rng = random.Random(seed)
        self.secret = rng.choice(WORDS)
        self.turn = 0
        return (
            "Guess the five-letter word. After each guess you get G (green), Y (yellow) or B (grey) for each letter. "
            f"You have {self.max_turns} guesses. Reply with a word in \\boxed{{}}."
        ), {}

    @staticmethod
    def _extract(action: str) -> str:
        if "\\boxed{" in action:
            return (
                action.rsplit("\\boxed{", maxsplit=1)[-1].split("}", maxsplit=1)[0].strip().lower()
            )
        return action.strip().lower()

    def _feedback(self, guess: str) -> str:
        out = ["B"] * 5
        left = list(self.secret)
        for i, ch in enumerate(guess):
            if self.secret[i] == ch:
                out[i] = "G"
                left.remove(ch)
        for i, ch in enumerate(guess):
            if out[i] == "B" and ch in left:
                out[i] = "Y"
                left.remove(ch)
        return "".join(out)

    def step(self, action: str):
        self.turn += 1
        guess = self._extract(action)
        over = self.turn >= self.max_turns
        if len(guess) != 5 or not guess.isascii() or not guess.isalpha():
            return "Invalid guess: five letters please.", -0.1, over, False, {"valid": False}
        if guess == self.secret:
            return "GGGGG - you win!", 1.0, True, False, {"valid": True}
        text = f"{guess}: {self._feedback(guess)}"
        if over:
            text += f"\nOut of guesses. The word was {self.secret}."
        return text, 0.0, over, False, {"valid": True}

    def solution(self):
        return [f"\\boxed{{{self.secret}}}"]
