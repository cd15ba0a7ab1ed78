# sound: the reference undoes the scramble
import random


class SlidingTilesEnv:
    """Slide five tiles into order around a gap."""

    STEPS = {"up": 3, "down": -3, "left": 1, "right": -1}
    BACK = {"up": "down", "down": "up", "left": "right", "right": "left"}

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.tiles, self.way, self.turn = list("12345_"), [], 0
        while len(self.way) < 9:
            move = rng.choice(list(self.STEPS))
            if (not self.way or self.BACK[move] != self.way[-1]) and self.slide(move):
                self.way.append(move)
        return "Slide tiles up, down, left, right into 123 45_.\n" + self.show(), {}

    def step(self, action):
        self.turn += 1
        self.slide(action.removeprefix("\\boxed{").removesuffix("}").strip().lower())
        won = "".join(self.tiles) == "12345_"
        return self.show(), float(won), won or self.turn == 12, False, {}

    def slide(self, move):
        gap = self.tiles.index("_")
        other = gap + self.STEPS.get(move, 99)
        sideways = move in ("left", "right") and other // 3 != gap // 3
        if not 0 <= other < 6 or sideways:
            return False
        self.tiles[gap], self.tiles[other] = self.tiles[other], "_"
        return True

    def show(self):
        return "".join(self.tiles[:3]) + "\n" + "".join(self.tiles[3:])

    def solution(self):
        return [self.BACK[move] for move in reversed(self.way)]


# hint: Put the tiles of the left column right first and leave them alone then.
