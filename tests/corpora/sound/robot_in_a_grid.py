# sound: dataclass, enum, typing and steps that cost; the way has to be planned
"""Robot in a warehouse grid."""

from __future__ import annotations

import random
import re
from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Heading(Enum):
    NORTH = (-1, 0)
    EAST = (0, 1)
    SOUTH = (1, 0)
    WEST = (0, -1)


@dataclass
class Warehouse:
    size: int
    walls: set = field(default_factory=set)
    start: tuple[int, int] = (0, 0)
    goal: tuple[int, int] = (0, 0)

    def free(self, cell: tuple[int, int]) -> bool:
        r, c = cell
        return 0 <= r < self.size and 0 <= c < self.size and cell not in self.walls

    def render(self, robot: tuple[int, int]) -> str:
        rows = []
        for r in range(self.size):
            row = ""
            for c in range(self.size):
                if (r, c) == robot:
                    row += "R"
                elif (r, c) == self.goal:
                    row += "G"
                elif (r, c) in self.walls:
                    row += "#"
                else:
                    row += "."
            rows.append(row)
        return "\n".join(rows)


class WarehouseRobotEnv:
    """Navigate a warehouse robot to the goal while avoiding shelves.

    Actions: north, south, east, west. Each step costs 0.01.
    """

    def __init__(self, size: int = 6, max_turns: int = 20, **kwargs: Any) -> None:
        self.size = size
        self.max_turns = max_turns
        self.turn = 0
        self.robot: tuple[int, int] = (0, 0)
        self.world: Warehouse | None = None

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        rng = random.Random(seed)
        self.turn = 0
        while True:
            world = Warehouse(self.size)
            cells = [(r, c) for r in range(self.size) for c in range(self.size)]
            world.walls = set(rng.sample(cells, 10))
            free = [c for c in cells if c not in world.walls]
            world.start, world.goal = rng.sample(free, 2)
            self.world = world
            path = self._path(world.start)
            if path is not None and 4 <= len(path) <= 12:
                break
        self.robot = world.start
        return self._observe("Welcome."), {"turn": 0, "size": self.size}

    def _path(self, start: tuple[int, int]) -> list[str] | None:
        assert self.world is not None
        queue = deque([(start, [])])
        seen = {start}
        while queue:
            cell, path = queue.popleft()
            if cell == self.world.goal:
                return path
            for h in Heading:
                nxt = (cell[0] + h.value[0], cell[1] + h.value[1])
                if self.world.free(nxt) and nxt not in seen:
                    seen.add(nxt)
                    queue.append((nxt, path + [h.name.lower()]))
        return None

    def _observe(self, note: str) -> str:
        assert self.world is not None
        return (
            f"{note}\n{self.world.render(self.robot)}\n"
            f"You are R at row {self.robot[0]}, column {self.robot[1]}; reach G. "
            f"Turn {self.turn}/{self.max_turns}. Actions: north, south, east, west."
        )

    def _parse(self, action: str) -> Heading | None:
        match = re.search(r"\\boxed\{([^}]*)\}", action)
        text = (match.group(1) if match else action).strip().upper()
        try:
            return Heading[text]
        except KeyError:
            return None

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.turn += 1
        heading = self._parse(action)
        done = self.turn >= self.max_turns
        info = {"turn": self.turn}
        if heading is None:
            return self._observe("Invalid action."), -0.1, False, done, info
        nxt = (self.robot[0] + heading.value[0], self.robot[1] + heading.value[1])
        if not self.world.free(nxt):
            return self._observe("Bump!"), -0.05, False, done, info
        self.robot = nxt
        if nxt == self.world.goal:
            return self._observe("You reached the goal!"), 1.0, True, False, info
        return self._observe("Moved."), -0.01, False, done, info

    def solution(self) -> list[str]:
        return self._path(self.world.start) or []
