# sound: every press changes several lamps; presses commute
import random


class LampSquareEnv:
    """Switch all lamps of a square off; each press changes its neighbours too."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.presses = sorted(rng.sample(range(9), 5))
        self.lamps, self.turn = [False] * 9, 0
        for place in self.presses:
            self.press(place)
        return "Presses are 1 to 9.\n" + self.show(), {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip()
        self.turn += 1
        if said in list("123456789"):
            self.press(int(said) - 1)
        won = not any(self.lamps)
        return self.show(), float(won), won or self.turn == 8, False, {}

    def press(self, place):
        for other in range(9):
            if abs(other // 3 - place // 3) + abs(other % 3 - place % 3) <= 1:
                self.lamps[other] = not self.lamps[other]

    def show(self):
        marks = ["*" if lamp else "." for lamp in self.lamps]
        return "\n".join("".join(marks[row : row + 3]) for row in (0, 3, 6))

    def solution(self):
        return [str(place + 1) for place in self.presses]


# hint: The order of presses does not matter, and none is needed twice.
