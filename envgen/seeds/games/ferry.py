"""Optimisation: choose the cargo that pays most without sinking the ferry."""

import random
from itertools import combinations


class FerryCargoEnv:
    """Load the ferry with the cargo that pays the most."""

    def __init__(self, max_turns: int = 14, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Draw crates until taking the best pay per tonne first is not the best plan."""
        rng = random.Random(seed)
        greedy: set[int] | None = None
        self.best: set[int] | None = None
        while greedy == self.best:
            self.weight = {crate: rng.randint(4, 19) for crate in range(1, 8)}
            self.pay = {crate: w + rng.randint(1, 15) for crate, w in self.weight.items()}
            self.limit = sum(self.weight.values()) * 11 // 20
            greedy, self.best = self.greedy_cargo(), self.best_cargo()
        self.cargo: set[int] = set()
        self.turns_left = self.max_turns
        rules = (
            "Load crates so that the pay is as high as it can be within the weight limit.\n"
            "Write load 3, unload 3, or sail when the cargo is final. "
            "The best cargo earns 1; a lesser one earns less than half of its share."
        )
        return f"{rules}\n\n{self.quay()}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Move a crate, or sail and be paid for the share of the best cargo."""
        words = action.removeprefix("\\boxed{").removesuffix("}").lower().split()
        self.turns_left -= 1
        if words == ["sail"]:
            share = self.value(self.cargo) / self.value(self.best or set())
            reward = 1.0 if share == 1 else 0.45 * share
            return f"The ferry sails with {share:.0%} of the best pay.", reward, True, False, {}
        if self.turns_left == 0:
            return "The ferry leaves without its cargo.", 0.0, True, False, {}
        return f"{self.move(words)}\n{self.quay()}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Load the best cargo, found by trying every set of crates, and sail."""
        return [*(f"load {crate}" for crate in sorted(self.best or set())), "sail"]

    def move(self, words: list[str]) -> str:
        """Load or unload one crate and say what happened."""
        names = {str(crate): crate for crate in self.weight}
        if len(words) != 2 or words[0] not in ("load", "unload") or words[1] not in names:
            return "Write load, unload and a crate's number, or sail."
        crate = names[words[1]]
        if words[0] == "unload":
            self.cargo.discard(crate)
            return f"Crate {crate} stands on the quay."
        if self.mass(self.cargo | {crate}) > self.limit:
            return f"Crate {crate} would sink the ferry; it stays on the quay."
        self.cargo.add(crate)
        return f"Crate {crate} is on board."

    def mass(self, cargo: set[int]) -> int:
        """Return the weight of a cargo in tonnes."""
        return sum(self.weight[crate] for crate in cargo)

    def value(self, cargo: set[int]) -> int:
        """Return what a cargo pays."""
        return sum(self.pay[crate] for crate in cargo)

    def best_cargo(self) -> set[int]:
        """Return the cargo of highest pay within the limit."""
        groups = (set(g) for n in range(1, 8) for g in combinations(self.weight, n))
        return max((g for g in groups if self.mass(g) <= self.limit), key=self.value)

    def greedy_cargo(self) -> set[int]:
        """Return what taking the best pay per tonne first would load."""
        cargo: set[int] = set()
        for crate in sorted(self.weight, key=lambda c: -self.pay[c] / self.weight[c]):
            if self.mass(cargo | {crate}) <= self.limit:
                cargo.add(crate)
        return cargo

    def quay(self) -> str:
        """Show crates, load and limit."""
        rows = [
            f"crate {crate}: {self.weight[crate]} tonnes, pays {self.pay[crate]}"
            + (" (on board)" if crate in self.cargo else "")
            for crate in self.weight
        ]
        load = f"Load: {self.mass(self.cargo)} of {self.limit} tonnes."
        return "\n".join([*rows, f"{load} Turns left: {self.turns_left}"])
