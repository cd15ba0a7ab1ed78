# sound: a rival with a generator of its own, known to the reference
import random


class MatchstickDuelEnv:
    """Take one to three matches in turn; whoever takes the last one loses. The rival plays well."""

    def __init__(self, max_turns=25, **kwargs):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.rng = random.Random(seed)
        while True:
            self.matches = self.rng.randint(22, 47)
            if self.matches % 4 != 1:
                break
        self.start = self.matches
        self.rival_seed = self.rng.randint(0, 10**6)
        self.rival = random.Random(self.rival_seed)
        self.turn = 0
        return (
            f"There are {self.matches} matches. Whoever takes the last one loses. Take 1, 2 or 3.",
            {"matches": self.matches},
        )

    def _rival_move(self, matches, rng):
        best = (matches - 1) % 4
        return best if best else rng.randint(1, min(3, matches))

    def step(self, action):
        self.turn += 1
        text = action.removeprefix("\\boxed{").removesuffix("}").strip()
        if text not in ("1", "2", "3") or int(text) > self.matches:
            return "Illegal. You forfeit.", -1.0, True, False, {}
        self.matches -= int(text)
        if self.matches == 0:
            return "You took the last match.", 0.0, True, False, {}
        take = self._rival_move(self.matches, self.rival)
        self.matches -= take
        if self.matches == 0:
            return f"I must take {take}, the last. You win!", 1.0, True, False, {}
        return (
            f"I take {take}; {self.matches} remain.",
            0.0,
            False,
            self.turn >= self.max_turns,
            {"matches": self.matches},
        )

    def solution(self):
        moves, m, rng = [], self.start, random.Random(self.rival_seed)
        while m > 1:
            t = (m - 1) % 4
            moves.append(str(t))
            m -= t
            if m == 1:
                break
            m -= self._rival_move(m, rng)
        return moves
