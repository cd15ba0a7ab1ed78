"""Strategic planning: push a crate to its place without pushing it where it can never leave."""

import random
from collections import deque

SIZE = 6
WAYS = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}

Cell = tuple[int, int]
State = tuple[Cell, Cell]  # where the worker stands and where the crate stands


class WarehouseEnv:
    """Push a crate through a cramped warehouse to its place."""

    def __init__(self, max_turns: int = 24, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Draw warehouses until one takes between 9 and 20 steps."""
        rng = random.Random(seed)
        cells = [(row, column) for row in range(SIZE) for column in range(SIZE)]
        inner = [cell for cell in cells if 0 < cell[0] < SIZE - 1 and 0 < cell[1] < SIZE - 1]
        self.way: list[str] = []
        while not 9 <= len(self.way) <= 20:
            crate = rng.choice(inner)
            self.place, worker, *walls = rng.sample([c for c in cells if c != crate], 9)
            self.walls, self.state = set(walls), (worker, crate)
            self.way = self.shortest_way()
        self.turns_left = min(self.max_turns, len(self.way) + 4)
        rules = (
            "You are @, the crate is $, its place is X, # is a wall. Walk up, right, down or left; "
            "walking into the crate pushes it, if nothing is behind it. It can never be pulled."
        )
        return f"{rules}\n\n{self.plan()}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Take one step; a step that is not possible costs the turn."""
        way = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        self.turns_left -= 1
        after = self.after(self.state, way)
        note = "" if after != self.state else "Nothing moves.\n"
        self.state = after
        if self.state[1] == self.place:
            return "The crate stands in its place.", 1.0, True, False, {}
        if self.turns_left == 0:
            return "The shift is over.", 0.0, True, False, {}
        return note + self.plan(), 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the shortest way, found by breadth-first search over worker and crate."""
        return self.way

    def after(self, state: State, way: str) -> State:
        """Return how things stand after a step, unchanged when it is not possible."""
        worker, crate = state
        down, across = WAYS.get(way, (0, 0))
        ahead = (worker[0] + down, worker[1] + across)
        behind = (ahead[0] + down, ahead[1] + across)
        if not self.free(ahead) or (ahead == crate and not self.free(behind)):
            return state
        return ahead, behind if ahead == crate else crate

    def free(self, cell: Cell) -> bool:
        """Say whether a cell is floor."""
        return 0 <= cell[0] < SIZE and 0 <= cell[1] < SIZE and cell not in self.walls

    def shortest_way(self) -> list[str]:
        """Return the fewest steps that bring the crate to its place, or none."""
        before: dict[State, tuple[State, str]] = {}
        queue = deque([self.state])
        while queue:
            state = queue.popleft()
            if state[1] == self.place:
                way = []
                while state != self.state:
                    state, step = before[state]
                    way.append(step)
                return way[::-1]
            for step in WAYS:
                after = self.after(state, step)
                if after not in before and after != self.state:
                    before[after] = (state, step)
                    queue.append(after)
        return []

    def plan(self) -> str:
        """Draw the warehouse."""
        marks = {**dict.fromkeys(self.walls, "#"), self.place: "X"}
        marks |= {self.state[1]: "$", self.state[0]: "@"}
        rows = [" ".join(marks.get((r, c), ".") for c in range(SIZE)) for r in range(SIZE)]
        return "\n".join([*rows, f"Steps left: {self.turns_left}"])
