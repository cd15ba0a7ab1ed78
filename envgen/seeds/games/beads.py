"""Pattern recognition: read the rule of a string of numbered beads and thread the next one."""

import random


class BeadStringEnv:
    """Continue three strings of numbered beads."""

    def __init__(self, max_turns: int = 4, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Draw three strings, each with a rule of another kind."""
        rng = random.Random(seed)
        kinds = rng.sample([self.steady, self.growing, self.two_strands, self.sum_of_two], 3)
        self.strings = [kind(rng) for kind in kinds]
        self.solved = 0
        self.turns_left = self.max_turns
        return f"Which number comes next on the string?\n{self.show()}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Compare one answer; a single mistake is forgiven, a second ends the game."""
        answer = action.removeprefix("\\boxed{").removesuffix("}").strip()
        self.turns_left -= 1
        right = answer == str(self.strings[self.solved][-1])
        self.solved += right
        if self.solved == 3:
            return "All three strings are finished.", 1.0, True, False, {}
        if self.turns_left < 3 - self.solved:
            return "The thread is used up.", 0.0, True, False, {}
        return f"{'Right.' if right else 'Not that one.'}\n{self.show()}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the last bead of each string."""
        return [str(string[-1]) for string in self.strings]

    def steady(self, rng: random.Random) -> list[int]:
        """The same step each time."""
        start, step = rng.randint(1, 40), rng.randint(3, 12)
        return [start + step * place for place in range(6)]

    def growing(self, rng: random.Random) -> list[int]:
        """A step that itself grows by the same amount each time."""
        start, step, growth = rng.randint(1, 20), rng.randint(1, 6), rng.randint(2, 5)
        return [start + step * n + growth * n * (n - 1) // 2 for n in range(6)]

    def two_strands(self, rng: random.Random) -> list[int]:
        """Two steady strands that take turns."""
        rise, fall = rng.randint(2, 9), rng.randint(2, 9)
        low, high = rng.randint(1, 20), rng.randint(60, 90)
        return [low + rise * (n // 2) if n % 2 == 0 else high - fall * (n // 2) for n in range(7)]

    def sum_of_two(self, rng: random.Random) -> list[int]:
        """Each bead is the sum of the two before it."""
        beads = [rng.randint(1, 9), rng.randint(2, 9)]
        while len(beads) < 7:
            beads.append(beads[-1] + beads[-2])
        return beads

    def show(self) -> str:
        """Show the string at hand with its last bead missing."""
        beads = " ".join(map(str, self.strings[self.solved][:-1]))
        return f"String {self.solved + 1} of 3: {beads} ?"
