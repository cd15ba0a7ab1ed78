# flaw: five tries for a number from 1 to 6
import random


class SixDrawersEnv:
    """Find the drawer with the ring."""

    def reset(self, seed=None):
        self.drawer, self.turn = random.Random(seed).randint(1, 6), 0
        return "A ring lies in one of the drawers from 1 to 6. Open one.", {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip()
        self.turn += 1
        if said == str(self.drawer):
            return "A ring!", 1.0, True, False, {}
        text = "It is in a higher one." if said < str(self.drawer) else "It is in a lower one."
        return text, 0.0, self.turn == 5, False, {}

    def solution(self):
        return [str(self.drawer)]


# hint: Begin in the middle.
