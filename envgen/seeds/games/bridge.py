"""Optimisation: a dark bridge, one lantern, five walkers of different pace, and a train to catch."""

import heapq
import random

NAMES = ("Abel", "Britt", "Carl", "Dana", "Elin")

Camp = frozenset[str]


class NightBridgeEnv:
    """Bring five walkers over a bridge at night in the least time."""

    def __init__(self, max_turns: int = 9, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Draw paces for which sending the fastest with everybody is not the best plan."""
        rng = random.Random(seed)
        self.limit, escorted = 0, 0
        while self.limit == escorted:
            minutes = sorted(rng.sample(range(1, 21), len(NAMES)))
            escorted = sum(minutes[1:]) + minutes[0] * (len(NAMES) - 2)
            self.minutes = dict(zip(rng.sample(NAMES, len(NAMES)), minutes, strict=True))
            self.limit, self.plan = self.best_plan()
        self.here: Camp = frozenset(NAMES)
        self.lantern_here, self.used, self.turns_left = True, 0, self.max_turns
        paces = ", ".join(f"{name} {self.minutes[name]}" for name in NAMES)
        rules = (
            "Five walkers stand on the near side of a bridge that carries two at most. Whoever "
            f"crosses needs the only lantern; two go at the pace of the slower. Minutes: {paces}.\n"
            f"The train leaves in {self.limit} minutes, not one too many. Each turn, name who "
            "carries the lantern across, for example cross Abel Britt; one alone may go too."
        )
        return f"{rules}\n{self.scene()}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Let one or two walkers cross."""
        words = action.removeprefix("\\boxed{").removesuffix("}").title().split()
        self.turns_left -= 1
        party = frozenset(words[1:])
        side = self.here if self.lantern_here else frozenset(NAMES) - self.here
        note = ""
        if words[:1] == ["Cross"] and len(party) in (1, 2) and party <= side:
            self.here = self.here - party if self.lantern_here else self.here | party
            self.used += max(self.minutes[name] for name in party)
            self.lantern_here = not self.lantern_here
        else:
            note = "Name one or two walkers who stand where the lantern is.\n"
        if self.used > self.limit or (self.here and self.turns_left == 0):
            return "The train has left.", 0.0, True, False, {}
        if not self.here:
            return "Everybody is on the train.", 1.0, True, False, {}
        return f"{note}{self.scene()}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the quickest crossings, found by searching over camps."""
        return self.plan

    def best_plan(self) -> tuple[int, list[str]]:
        """Return the least minutes and the crossings that need no more (Dijkstra's algorithm)."""
        queue: list[tuple[int, list[str], list[str], bool]] = [(0, [], sorted(NAMES), True)]
        done: set[tuple[tuple[str, ...], bool]] = set()
        while queue:
            used, plan, here, lantern_here = heapq.heappop(queue)
            if not here:
                return used, plan
            if (tuple(here), lantern_here) in done:
                continue
            done.add((tuple(here), lantern_here))
            side = here if lantern_here else [name for name in NAMES if name not in here]
            for one in side:
                for two in side:
                    # Two go over and one comes back: anything else is never quicker.
                    if (one < two) if lantern_here else (one == two):
                        party = sorted({one, two})
                        left = sorted(set(here) ^ set(party))
                        pace = max(self.minutes[name] for name in party)
                        move = f"cross {' '.join(party)}"
                        heapq.heappush(queue, (used + pace, [*plan, move], left, not lantern_here))
        return 0, []

    def scene(self) -> str:
        """Tell who is where and what the clock says."""
        near = ", ".join(name for name in NAMES if name in self.here)
        side = "near" if self.lantern_here else "far"
        return f"Near side: {near}. Lantern: {side} side. Minutes used: {self.used}"
