# flaw: the win is paid but the play is never ended by it
import random


class GardenRowEnv:
    """Plant three rows of a garden."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.rows = [(rng.randint(12, 40), rng.randint(3, 9)) for _ in range(3)]
        self.turn = 0
        return self.ask(), {}

    def ask(self):
        metres, apart = self.rows[min(self.turn, 2)]
        return f"{metres * apart} metres, a plant every {apart} metres. Gaps?"

    def step(self, action):
        right = action.removeprefix("\\boxed{").removesuffix("}").strip() == str(
            self.rows[self.turn][0]
        )
        self.turn += 1
        if not right:
            return "dry", 0.0, True, False, {}
        return self.ask(), float(self.turn == 3), False, False, {}

    def solution(self):
        return [str(metres) for metres, _ in self.rows]


# hint: Divide.
