"""Mathematical reasoning: measure out an amount of milk with two jugs that have no marks."""

import random
from collections import deque

Milk = tuple[int, int]  # litres in jug A and in jug B


class DairyJugsEnv:
    """Measure out the milk with two jugs that carry no marks."""

    def __init__(self, max_turns: int = 14, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Draw jugs and a goal that takes between 6 and 10 moves."""
        rng = random.Random(seed)
        self.way: list[str] = []
        while not 6 <= len(self.way) <= 10:
            self.sizes = tuple(rng.sample(range(4, 17), 2))
            self.goal = rng.randint(1, max(self.sizes) - 1)
            self.way = self.shortest_way()
        self.milk: Milk = (0, 0)
        self.turns_left = min(self.max_turns, len(self.way) + 2)
        rules = (
            f"Jug A holds {self.sizes[0]} litres, jug B holds {self.sizes[1]}; there are no marks "
            "on them. Milk flows from a tap.\n"
            f"Have exactly {self.goal} litres in one of the jugs. Write fill A, empty A or "
            "pour A B (pouring stops when B is full or A is empty), and the same for B."
        )
        return f"{rules}\n{self.show()}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Fill, empty or pour; anything else costs the turn."""
        move = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        self.turns_left -= 1
        note = "" if move in self.moves(self.milk) else "Nobody knows how to do that.\n"
        self.milk = self.moves(self.milk).get(move, self.milk)
        if self.goal in self.milk:
            return f"{self.goal} litres, to the drop.", 1.0, True, False, {}
        if self.turns_left == 0:
            return "The dairy closes.", 0.0, True, False, {}
        return note + self.show(), 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the shortest way to the goal, found by breadth-first search."""
        return self.way

    def moves(self, milk: Milk) -> dict[str, Milk]:
        """Return every move and what the jugs hold after it."""
        (a, b), (room_a, room_b) = milk, (self.sizes[0] - milk[0], self.sizes[1] - milk[1])
        over, back = min(a, room_b), min(b, room_a)
        return {
            "fill a": (self.sizes[0], b),
            "fill b": (a, self.sizes[1]),
            "empty a": (0, b),
            "empty b": (a, 0),
            "pour a b": (a - over, b + over),
            "pour b a": (a + back, b - back),
        }

    def shortest_way(self) -> list[str]:
        """Return the fewest moves from empty jugs to the goal, or none when it is out of reach."""
        ways: dict[Milk, list[str]] = {(0, 0): []}
        queue = deque(ways)
        while queue:
            milk = queue.popleft()
            if self.goal in milk:
                return ways[milk]
            for move, after in self.moves(milk).items():
                if after not in ways:
                    ways[after] = [*ways[milk], move]
                    queue.append(after)
        return []

    def show(self) -> str:
        """Show what the jugs hold."""
        return f"A: {self.milk[0]} litres, B: {self.milk[1]} litres. Turns left: {self.turns_left}"
