# sound: hard without luck, but every shot tells something
import random


class HiddenShipEnv:
    """Sink a ship of three cells on a small sea."""

    def __init__(self, max_turns=14):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        row, col = rng.randrange(6), rng.randrange(4)
        cells = [(row, col + n) for n in range(3)]
        self.ship = {
            f"{'ABCDEF'[r]}{c + 1}"
            for r, c in (cells if rng.random() < 0.5 else [(c, r) for r, c in cells])
        }
        self.hit, self.turn = set(), 0
        return "A ship of three cells in a row lies in A1 to F6. Shoot at a cell.", {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip().upper()
        self.turn += 1
        if said in self.ship:
            self.hit.add(said)
        won = self.hit == self.ship
        text = "hit" if said in self.ship else "water"
        return text, float(won), won or self.turn == self.max_turns, False, {}

    def solution(self):
        return sorted(self.ship)


# hint: Shoot at every third cell of a diagonal pattern until something is hit.
