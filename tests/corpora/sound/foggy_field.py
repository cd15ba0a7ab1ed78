# sound: only the neighbourhood is seen, so the way has to be explored
import random


class FoggyFieldEnv:
    """Find a well in the fog by the sound of its bell."""

    def __init__(self, max_turns=20):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.well = rng.choice([-1, 1]) * rng.randint(3, 7), rng.choice([-1, 1]) * rng.randint(3, 7)
        self.at, self.turn = (0, 0), 0
        return "Fog. Walk n, e, s or w; the bell tells how far the well is.", {}

    def step(self, action):
        self.turn += 1
        dx, dy = {"n": (0, 1), "s": (0, -1), "e": (1, 0), "w": (-1, 0)}.get(
            action.removeprefix("\\boxed{").removesuffix("}").strip().lower(), (0, 0)
        )
        self.at = self.at[0] + dx, self.at[1] + dy
        far = abs(self.well[0] - self.at[0]) + abs(self.well[1] - self.at[1])
        won = far == 0
        return (
            f"The bell is {far} paces off.",
            float(won),
            won or self.turn == self.max_turns,
            False,
            {},
        )

    def solution(self):
        x, y = self.well
        return ["e" if x > 0 else "w"] * abs(x) + ["n" if y > 0 else "s"] * abs(y)


# hint: One step in each direction tells where the well lies.
