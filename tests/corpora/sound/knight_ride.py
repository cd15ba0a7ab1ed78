# sound: shortest ways found by search inside the environment
import random
from collections import deque


class KnightRideEnv:
    """Ride a chess knight to a cell in the fewest moves."""

    JUMPS = [(a, b) for a in (-2, -1, 1, 2) for b in (-2, -1, 1, 2) if abs(a) != abs(b)]

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.way = []
        while not 3 <= len(self.way) <= 4:
            self.place = rng.randrange(5), rng.randrange(5)
            self.goal = rng.randrange(5), rng.randrange(5)
            self.way = self.search()
        self.turn = 0
        return (
            (
                f"Board a1 to e5. Knight on {self.name(self.place)}, goal {self.name(self.goal)}, "
                f"{len(self.way)} moves."
            ),
            {},
        )

    def name(self, cell):
        return "abcde"[cell[0]] + str(cell[1] + 1)

    def nexts(self, cell):
        cells = [(cell[0] + a, cell[1] + b) for a, b in self.JUMPS]
        return [c for c in cells if 0 <= c[0] < 5 and 0 <= c[1] < 5]

    def search(self):
        ways, queue = {self.place: []}, deque([self.place])
        while queue:
            cell = queue.popleft()
            if cell == self.goal:
                return ways[cell]
            for other in self.nexts(cell):
                if other not in ways:
                    ways[other] = [*ways[cell], self.name(other)]
                    queue.append(other)
        return []

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        self.turn += 1
        for cell in self.nexts(self.place):
            if self.name(cell) == said:
                self.place = cell
                break
        won = self.place == self.goal
        return (
            f"Knight on {self.name(self.place)}",
            float(won),
            won or self.turn == len(self.way),
            False,
            {},
        )

    def solution(self):
        return self.way


# hint: Search from the goal backwards as well.
