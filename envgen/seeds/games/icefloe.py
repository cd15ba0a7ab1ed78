"""Strategic planning: two bears on melting ice; whoever cannot step on has lost."""

import random

SIZE = 4
CELLS = [(row, column) for row in range(SIZE) for column in range(SIZE)]
WAYS = {"north": (-1, 0), "east": (0, 1), "south": (1, 0), "west": (0, -1)}

Cell = tuple[int, int]
Position = tuple[Cell, Cell, frozenset[Cell]]  # who is to move, the other one, ice that is left


class IceFloeEnv:
    """Be the last bear that can still take a step on the melting ice."""

    def __init__(self, max_turns: int = 8, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Draw positions until one can be won, but only by one first step and a long play."""
        rng = random.Random(seed)
        self.known: dict[Position, int] = {}
        while True:
            mine, theirs, *gone = rng.sample(CELLS, 7)
            self.position: Position = (mine, theirs, frozenset(CELLS) - set(gone))
            after = [self.worth(p) for p in self.steps(self.position).values()]
            lone = len(after) > 1 and sum(worth < 0 for worth in after) == 1
            if lone and self.worth(self.position) <= 100 - 7:
                break
        self.turns_left = self.max_turns
        rules = (
            "You are M, a rival bear is R, # is ice, . is water. In turn, each bear steps north, "
            "east, south or west onto ice that is free, and the floe it leaves melts. Whoever "
            "cannot step loses; a step that is not possible loses too. You begin, and your rival "
            "knows this game well."
        )
        return f"{rules}\n\n{self.chart()}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Take the player's step, then the rival's."""
        way = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        self.turns_left -= 1
        if way not in self.steps(self.position):
            return "You fall into the water.", 0.0, True, False, {}
        self.position = self.steps(self.position)[way]
        answer = self.best(self.position)
        if answer is None:
            return "Your rival cannot move. The ice is yours.", 1.0, True, False, {}
        self.position = self.steps(self.position)[answer]
        if not self.steps(self.position) or self.turns_left == 0:
            return f"Your rival goes {answer}. You cannot go on.", 0.0, True, False, {}
        return f"Your rival goes {answer}.\n{self.chart()}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Play both sides to the end; the rival answers the same way each time."""
        position, play = self.position, []
        while (way := self.best(position)) is not None:
            play.append(way)
            position = self.steps(position)[way]
        return play[::2]

    def steps(self, position: Position) -> dict[str, Position]:
        """Return every possible step and the position it leads to."""
        mine, theirs, ice = position
        found = {}
        for way, (down, across) in WAYS.items():
            cell = (mine[0] + down, mine[1] + across)
            if cell in ice and cell != theirs:
                found[way] = (theirs, cell, ice - {mine})
        return found

    def worth(self, position: Position) -> int:
        """Return 100 - n if whoever is to move wins after n steps, n - 100 if they lose then."""
        if position not in self.known:
            after = [self.worth(other) for other in self.steps(position).values()]
            value = -min(after, default=100)
            self.known[position] = value - 1 if value > 0 else value + 1
        return self.known[position]

    def best(self, position: Position) -> str | None:
        """Return the step that wins soonest, or loses latest, or None where there is no step."""
        steps = self.steps(position)
        return min(steps, key=lambda way: self.worth(steps[way]), default=None)

    def chart(self) -> str:
        """Draw the ice with the player to move."""
        mine, theirs, ice = self.position
        marks = {**dict.fromkeys(ice, "#"), mine: "M", theirs: "R"}
        return "\n".join(
            " ".join(marks.get((row, column), ".") for column in range(SIZE)) for row in range(SIZE)
        )
