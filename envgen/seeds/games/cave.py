"""Memory recall: be led into a dark cave turn by turn, then find the way out alone."""

import random

BACK = {"left": "right", "right": "left", "straight": "straight"}
SIGNS = ("a dripping ceiling", "a cold draught", "smooth clay", "a smell of moss", "an echo",
         "a ladder bolted to the rock", "a rope hanging down", "bones underfoot")  # fmt: skip


class DarkCaveEnv:
    """Remember the way into a cave and walk out of it again."""

    def __init__(self, max_turns: int = 18, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Draw eight forks with a sign at each, so that places can be told apart."""
        rng = random.Random(seed)
        self.way = [rng.choice(list(BACK)) for _ in range(8)]
        self.signs = rng.sample(SIGNS, 8)
        self.turn = 0
        return (
            "A guide leads you into a dark cave. At each fork there is something to notice; reply "
            "on to walk on. Behind the last fork the guide's lamp goes out, and you walk back "
            "alone: at each fork say left, right or straight, as you face it on the way out. "
            f"A wrong turn ends it.\n\n{self.fork()}"
        ), {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Walk on behind the guide, or find the way back past one fork."""
        said = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        self.turn += 1
        forks = len(self.way)
        if self.turn < forks:
            return self.fork(), 0.0, False, False, {}
        passed = self.turn - forks
        if passed and said != self.way_back()[passed - 1]:
            return "You are lost in the dark.", 0.0, True, False, {}
        if passed == forks:
            return "Daylight.", 1.0, True, False, {}
        if self.turn >= self.max_turns:
            return "The water rises.", 0.0, True, False, {}
        start = "" if passed else "The lamp goes out. You turn round. "
        return f"{start}You feel {self.signs[forks - 1 - passed]}.", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Follow the guide to the end, then take every fork the other way round."""
        return ["on"] * len(self.way) + self.way_back()

    def way_back(self) -> list[str]:
        """Return the turns as they are on the way out: the last first, sides exchanged."""
        return [BACK[turn] for turn in reversed(self.way)]

    def fork(self) -> str:
        """Tell what is at the fork and where the guide goes."""
        turn = self.way[self.turn]
        went = "goes straight on" if turn == "straight" else f"turns {turn}"
        return f"Fork {self.turn + 1} of 8: {self.signs[self.turn]}. The guide {went}."
