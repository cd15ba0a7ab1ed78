"""Strategic planning: three heaps of shells, a rival who never errs, and the last shell wins."""

import random
import re

MOVE = re.compile(r"take ([1-9]) from ([abc])")


class TidePoolEnv:
    """Take the last shell before your rival does."""

    def __init__(self, max_turns: int = 12, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Draw three heaps from which the player to move can force a win."""
        rng = random.Random(seed)
        self.heaps = [0, 0, 0]
        while self.winning_move(self.heaps) is None:
            self.heaps = [rng.randint(3, 9) for _ in range(3)]
        self.turns_left = self.max_turns
        return (
            "Three heaps of shells lie on the beach. You and a rival take turns; each turn takes "
            "one or more shells from one heap.\nWhoever takes the last shell of all wins. "
            "You begin. Write, say, take 2 from B. A move that cannot be made is a pass.\n"
            f"{self.beach()}"
        ), {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Make the player's move, then the rival's."""
        move = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        self.turns_left -= 1
        match = MOVE.fullmatch(move)
        if match is not None and int(match[1]) <= self.heaps["abc".index(match[2])]:
            self.heaps["abc".index(match[2])] -= int(match[1])
        if not any(self.heaps):
            return "You took the last shell.", 1.0, True, False, {}
        count, heap = self.reply(self.heaps)
        self.heaps[heap] -= count
        said = f"Your rival takes {count} from {'ABC'[heap]}."
        if not any(self.heaps):
            return f"{said} That was the last shell.", 0.0, True, False, {}
        if self.turns_left == 0:
            return f"{said} The tide comes in.", 0.0, True, False, {}
        return f"{said}\n{self.beach()}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Play both sides to the end; the rival answers the same way each time."""
        heaps, play = list(self.heaps), []
        while any(heaps):
            count, heap = self.winning_move(heaps) or (1, 0)
            heaps[heap] -= count
            play.append(f"take {count} from {'ABC'[heap]}")
            if any(heaps):
                count, heap = self.reply(heaps)
                heaps[heap] -= count
        return play

    def reply(self, heaps: list[int]) -> tuple[int, int]:
        """Return the rival's move: the winning one, or else half of the largest heap."""
        largest = heaps.index(max(heaps))
        return self.winning_move(heaps) or ((heaps[largest] + 1) // 2, largest)

    def winning_move(self, heaps: list[int]) -> tuple[int, int] | None:
        """Return (shells, heap) that leaves the heaps balanced, or None in a lost position."""
        balance = heaps[0] ^ heaps[1] ^ heaps[2]
        for heap, shells in enumerate(heaps):
            if (shells ^ balance) < shells:
                return shells - (shells ^ balance), heap
        return None

    def beach(self) -> str:
        """Show the heaps."""
        return "\n".join(f"{'ABC'[heap]}: {'o' * shells}" for heap, shells in enumerate(self.heaps))
