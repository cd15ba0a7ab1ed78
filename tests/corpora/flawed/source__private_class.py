# flaw: the only class is private
import random


class _HiddenEnv:
    """Double a number."""

    def reset(self, seed=None):
        self.number = random.Random(seed).randint(100, 999)
        return f"Twice {self.number}?", {}

    def step(self, action):
        return (
            "",
            float(
                action.removeprefix("\\boxed{").removesuffix("}").strip() == str(2 * self.number)
            ),
            True,
            False,
            {},
        )

    def solution(self):
        return [str(2 * self.number)]


# hint: Add it to itself.
