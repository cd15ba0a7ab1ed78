# flaw: a long reply is repeated ten times over, beyond any frame
import random


class EchoValleyEnv:
    """Call a number into a valley and hear it come back."""

    def reset(self, seed=None):
        self.number, self.turn = random.Random(seed).randint(1000, 9999), 0
        return f"Call {self.number} backwards.", {}

    def step(self, action):
        self.turn += 1
        said = action.removeprefix("\\boxed{").removesuffix("}").strip()
        won = said == str(self.number)[::-1]
        return "\n".join([said] * 10), float(won), won or self.turn == 3, False, {}

    def solution(self):
        return [str(self.number)[::-1]]


# hint: Last digit first.
