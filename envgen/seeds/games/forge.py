"""Mathematical reasoning: weld numbers together, two at a time, until only the target is left."""

import random
import re

MOVE = re.compile(r"([0-9]{1,4}) *([-+*/]) *([0-9]{1,4})")


class NumberForgeEnv:
    """Combine four numbers, two at a time, into the target."""

    def __init__(self, max_turns: int = 6, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Draw numbers and weld them at random; what comes out last is the target."""
        rng = random.Random(seed)
        self.target, self.numbers = 0, [0]
        while not 11 <= self.target <= 150 or self.target in self.numbers:
            self.numbers = rng.sample(range(2, 16), 4)
            table, self.moves = list(self.numbers), []
            while len(table) > 1:
                first, second = rng.sample(table, 2)
                sign = rng.choice("++-**/")
                made = self.weld(first, sign, second)
                if made is None:
                    continue
                self.moves.append(f"{first} {sign} {second}")
                table = self.put(table, first, second, made)
            self.target = table[0]
        self.turns_left = self.max_turns
        rules = (
            "Each turn, weld two numbers of the table into one with + - * or /, for example 3 * 4. "
            "Both are used up. Results must be whole and above zero. "
            "When a single number is left it must be the target."
        )
        return f"{rules}\n\n{self.table()}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Weld two numbers; anything that cannot be welded costs a turn."""
        self.turns_left -= 1
        problem = self.attempt(action.removeprefix("\\boxed{").removesuffix("}").strip())
        if len(self.numbers) == 1:
            won = self.numbers == [self.target]
            return f"The last number is {self.numbers[0]}.", float(won), True, False, {}
        if self.turns_left == 0:
            return "The fire has gone out.", 0.0, True, False, {}
        return problem + self.table(), 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the welds that made the target."""
        return self.moves

    def attempt(self, move: str) -> str:
        """Carry out a move, or return in one line why it cannot be done."""
        match = MOVE.fullmatch(move)
        if match is None:
            return "Write a weld such as 3 * 4.\n"
        first, sign, second = int(match[1]), match[2], int(match[3])
        needed = [first, second]
        if any(needed.count(number) > self.numbers.count(number) for number in needed):
            return "Those two numbers are not both on the table.\n"
        made = self.weld(first, sign, second)
        if made is None:
            return "That does not give a whole number above zero.\n"
        self.numbers = self.put(self.numbers, first, second, made)
        return ""

    def weld(self, first: int, sign: str, second: int) -> int | None:
        """Return the result, or None when it is not a whole number above zero."""
        if sign == "/":
            return first // second if first % second == 0 else None
        made = {"+": first + second, "-": first - second, "*": first * second}[sign]
        return made if made > 0 else None

    def put(self, table: list[int], first: int, second: int, made: int) -> list[int]:
        """Return the table with two numbers replaced by what they made."""
        rest = list(table)
        rest.remove(first)
        rest.remove(second)
        return [*rest, made]

    def table(self) -> str:
        """Show what lies on the table."""
        numbers = " ".join(map(str, self.numbers))
        return f"Table: {numbers}\nTarget: {self.target}\nTurns left: {self.turns_left}"
