"""The measuring environment, also read as text for the jail: cheap steps that never end."""

import random


class TallyEnv:
    """Count up to the number shown."""

    def __init__(self, max_turns: int = 1000000, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Start again."""
        self.goal = random.Random(seed).randint(10**8, 10**9)
        self.count = 0
        return f"Count to {self.goal}.", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Count one up."""
        self.count += 1
        return f"You are at {self.count}.", 0.0, False, False, {}
