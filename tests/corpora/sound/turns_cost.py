# sound: each turn costs a little, so even the best play earns less than one
import random


class StairsEnv:
    """Climb to an exact step by doubling and adding one."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.goal, self.at, self.turn = rng.randint(40, 120), 1, 0
        return f"You stand on step 1; reach step {self.goal}. Write double or add.", {}

    def step(self, action):
        move = action.removeprefix("\\boxed{").removesuffix("}").strip()
        self.turn += 1
        if move == "double":
            self.at *= 2
        if move == "add":
            self.at += 1
        if self.at == self.goal:
            return "There.", 1 - 0.02 * self.turn, True, False, {}
        if self.at > self.goal or self.turn == 15:
            return "Too far or too late.", 0.0, True, False, {}
        return f"Step {self.at} of {self.goal}.", 0.0, False, False, {}

    def solution(self):
        moves, at = [], self.goal
        while at > 1:
            moves.append("add" if at % 2 else "double")
            at = at - 1 if at % 2 else at // 2
        return moves[::-1]


# hint: Work backwards from the goal: halve it when it is even, else step down by one.
