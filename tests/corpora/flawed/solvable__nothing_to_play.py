# flaw: solution() is an empty list
import random


class EmptyPlanEnv:
    """Find the largest digit of a number."""

    def reset(self, seed=None):
        self.number = random.Random(seed).randint(10**8, 10**9)
        return f"Largest and smallest digit of {self.number}, as one number?", {}

    def step(self, action):
        digits = sorted(str(self.number))
        return (
            "",
            float(
                action.removeprefix("\\boxed{").removesuffix("}").strip() == digits[-1] + digits[0]
            ),
            True,
            False,
            {},
        )

    def solution(self):
        return []


# hint: Look for a nine first.
