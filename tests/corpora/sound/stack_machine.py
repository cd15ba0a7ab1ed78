# sound: one number from a small program
import random


class StackMachineEnv:
    """Say what a stack machine leaves on its stack."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.stack, lines = [], []
        for _ in range(9):
            kinds = ["push"] if len(self.stack) < 2 else ["push", "add", "mul", "swap"]
            kind = rng.choice(kinds)
            number = rng.randint(2, 9)
            lines.append(f"push {number}" if kind == "push" else kind)
            if kind == "push":
                self.stack.append(number)
                continue
            top, below = self.stack.pop(), self.stack.pop()
            self.stack += {"add": [below + top], "mul": [below * top], "swap": [top, below]}[kind]
        return "Stack from bottom to top, blanks between, after:\n" + "\n".join(lines), {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip().split() == [
            str(number) for number in self.stack
        ]
        return "halt" if won else "trap", float(won), True, False, {}

    def solution(self):
        return [" ".join(map(str, self.stack))]


# hint: Write the whole stack down after every line.
