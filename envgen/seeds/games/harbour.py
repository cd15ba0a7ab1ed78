"""Spatial reasoning: turn and move a boat by its own left and right until it lies at the quay."""

import random
from collections import deque

HEADINGS = "^>v<"
FORWARD = {"^": (-1, 0), ">": (0, 1), "v": (1, 0), "<": (0, -1)}
SIZE = 7

Place = tuple[int, int, str]  # row, column, heading


class HarbourPilotEnv:
    """Pilot a boat through a crowded harbour to the quay."""

    def __init__(self, max_turns: int = 20, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Draw harbours until one has a quay that is between 9 and 15 moves away."""
        rng = random.Random(seed)
        cells = [(row, column) for row in range(SIZE) for column in range(SIZE)]
        self.path: list[str] = []
        while not 9 <= len(self.path) <= 15:
            self.rocks = set(rng.sample(cells, 15))
            free = [cell for cell in cells if cell not in self.rocks]
            start, self.quay = rng.sample(free, 2)
            self.place: Place = (*start, rng.choice(HEADINGS))
            self.path = self.shortest_path()
        self.turns_left = min(self.max_turns, len(self.path) + 3)
        rules = (
            "The boat is ^ > v or <, and points where its bow points. # is rock, Q is the quay.\n"
            "Bring the boat onto Q. Moves: forward, left, right "
            "(left and right turn the boat on the spot)."
        )
        return f"{rules}\n\n{self.chart()}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Make one move; a move into rock or an unknown word costs the turn and changes nothing."""
        move = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        after = self.after(self.place, move)
        self.turns_left -= 1
        note = "" if after != self.place else "The boat stays where it is.\n"
        self.place = after
        if self.place[:2] == self.quay:
            return "The boat lies at the quay.", 1.0, True, False, {}
        if self.turns_left == 0:
            return "The tide has gone out.", 0.0, True, False, {}
        return note + self.chart(), 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the shortest way, found by breadth-first search over places and headings."""
        return self.path

    def after(self, place: Place, move: str) -> Place:
        """Return where ``move`` leads from ``place``."""
        row, column, heading = place
        if move in ("left", "right"):
            turn = 1 if move == "right" else -1
            return row, column, HEADINGS[(HEADINGS.index(heading) + turn) % 4]
        if move == "forward":
            down, across = FORWARD[heading]
            cell = row + down, column + across
            inside = 0 <= cell[0] < SIZE and 0 <= cell[1] < SIZE
            if inside and cell not in self.rocks:
                return *cell, heading
        return place

    def shortest_path(self) -> list[str]:
        """Return the fewest moves to the quay, or an empty list when there is no way."""
        ways: dict[Place, list[str]] = {self.place: []}
        queue = deque([self.place])
        while queue:
            place = queue.popleft()
            if place[:2] == self.quay:
                return ways[place]
            for move in ("forward", "left", "right"):
                after = self.after(place, move)
                if after not in ways:
                    ways[after] = [*ways[place], move]
                    queue.append(after)
        return []

    def chart(self) -> str:
        """Draw the harbour as the player sees it."""
        rows = [["." for _ in range(SIZE)] for _ in range(SIZE)]
        for row, column in self.rocks:
            rows[row][column] = "#"
        rows[self.quay[0]][self.quay[1]] = "Q"
        rows[self.place[0]][self.place[1]] = self.place[2]
        drawing = "\n".join(" ".join(row) for row in rows)
        return f"{drawing}\nMoves left: {self.turns_left}"
