"""Spatial reasoning: roll a die over a board so that it comes to rest with the right face up."""

import random
from collections import deque

SIZE = 6
WAYS = {"north": (-1, 0), "east": (0, 1), "south": (1, 0), "west": (0, -1)}

Die = tuple[int, int, int, int, int]  # row, column; faces on top, to the north, to the east


class RollingDieEnv:
    """Roll a die to the goal so that the wanted face ends on top."""

    def __init__(self, max_turns: int = 14, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Place die, goal and holes so that the shortest way takes seven to eleven rolls."""
        rng = random.Random(seed)
        cells = [(row, column) for row in range(SIZE) for column in range(SIZE)]
        self.way: list[str] = []
        while not 7 <= len(self.way) <= 11:
            start, self.goal, *holes = rng.sample(cells, 8)
            self.holes, self.wanted = set(holes), rng.randint(1, 6)
            top, north = rng.choice([(1, 2), (2, 6), (3, 1), (4, 5), (5, 3), (6, 4)])
            east = next(f for f in range(1, 7) if f not in (top, 7 - top, north, 7 - north))
            self.die: Die = (*start, top, north, east)
            self.way = self.shortest_way()
        self.turns_left = min(self.max_turns, len(self.way) + 2)
        rules = (
            "D is the die, G the goal, o a hole. Opposite faces of the die add up to 7. Roll it "
            "over its edges: north (up on the board), east, south or west.\n"
            f"It must lie on G with {self.wanted} on top. Into a hole or off the board: lost."
        )
        return f"{rules}\n\n{self.board()}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Roll the die once; an unknown word costs the turn."""
        way = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        self.turns_left -= 1
        if way in WAYS:
            self.die = self.rolled(self.die, way)
        if not self.on_board(self.die):
            return "The die is gone.", 0.0, True, False, {}
        if self.die[:2] == self.goal and self.die[2] == self.wanted:
            return "The die lies as it should.", 1.0, True, False, {}
        if self.turns_left == 0:
            return "No rolls are left.", 0.0, True, False, {}
        return self.board(), 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the shortest way, found by breadth-first search over places and faces."""
        return self.way

    def rolled(self, die: Die, way: str) -> Die:
        """Return the die after it was tipped over one edge."""
        row, column, top, north, east = die
        down, across = WAYS[way]
        faces = {
            "north": (7 - north, top, east),
            "south": (north, 7 - top, east),
            "east": (7 - east, north, top),
            "west": (east, north, 7 - top),
        }[way]
        return (row + down, column + across, *faces)

    def on_board(self, die: Die) -> bool:
        """Say whether the die lies on the board and in no hole."""
        return 0 <= die[0] < SIZE and 0 <= die[1] < SIZE and die[:2] not in self.holes

    def shortest_way(self) -> list[str]:
        """Return the fewest rolls to the goal with the wanted face up, or none."""
        ways: dict[Die, list[str]] = {self.die: []}
        queue = deque([self.die])
        while queue:
            die = queue.popleft()
            if die[:2] == self.goal and die[2] == self.wanted:
                return ways[die]
            for way in WAYS:
                after = self.rolled(die, way)
                if self.on_board(after) and after not in ways:
                    ways[after] = [*ways[die], way]
                    queue.append(after)
        return []

    def board(self) -> str:
        """Draw the board and name the three faces that can be seen."""
        marks = {**dict.fromkeys(self.holes, "o"), self.goal: "G", self.die[:2]: "D"}
        rows = [" ".join(marks.get((r, c), ".") for c in range(SIZE)) for r in range(SIZE)]
        faces = f"top {self.die[2]}, north side {self.die[3]}, east side {self.die[4]}"
        return "\n".join([*rows, f"Die: {faces}. Rolls left: {self.turns_left}"])
