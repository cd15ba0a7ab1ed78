# sound: a rival answers each move
import random


class LastMatchEnv:
    """Take matches so that the rival has to take the last one."""

    def reset(self, seed=None):
        self.rng = random.Random(seed)
        self.matches = 4 * self.rng.randint(5, 8) + 1 + self.rng.randint(1, 3)
        return f"{self.matches} matches. Take 1, 2 or 3 in turn; the last one loses.", {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip()
        take = int(said) if said in ("1", "2", "3") else 1
        self.matches -= min(take, self.matches)
        if self.matches == 0:
            return "You took the last one.", 0.0, True, False, {}
        other = (self.matches - 1) % 4 or 1
        self.matches -= other
        if self.matches == 0:
            return "The rival took the last one.", 1.0, True, False, {}
        return f"The rival takes {other}; {self.matches} are left.", 0.0, False, False, {}

    def solution(self):
        matches, moves = self.matches, []
        while matches > 1:
            moves.append(str((matches - 1) % 4 or 1))
            matches -= int(moves[-1])
            matches -= (matches - 1) % 4 or 1 if matches > 1 else 1
        return moves


# hint: Leave one more than a multiple of four each time.
