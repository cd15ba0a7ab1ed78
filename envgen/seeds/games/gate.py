"""Pattern recognition: find the secret rule of a gate by showing it chains of coloured stones."""

import random
from collections.abc import Callable
from itertools import pairwise

STONES = "RGB"

Rule = Callable[[str], bool]


class StoneGateEnv:
    """Find out which chains of stones open a gate."""

    def __init__(self, max_turns: int = 9, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Choose a rule, two examples of it, and six chains for the end."""
        rng = random.Random(seed)
        self.rule = self.some_rule(rng)
        count = rng.randint(2, 4)
        opens, shut = self.chains(rng, True, 1 + count), self.chains(rng, False, 7 - count)
        self.final = opens[1:] + shut[1:]
        rng.shuffle(self.final)
        self.turns_left = self.max_turns
        rules = (
            "A gate opens for some chains of five stones, red R, green G or blue B. Its rule is "
            "about how many stones of a colour there are, which of them are neighbours, or how a "
            "chain begins and ends.\n"
            f"{opens[0]} opens it, {shut[0]} does not. Show it chains, one a turn, say, RRGBG. "
            "When you know the rule, name all that open of these six:\n"
            + "\n".join(f"number {place} is {chain}" for place, chain in enumerate(self.final, 1))
            + "\nWrite, say, final 2 5. One answer only."
        )
        return f"{rules}\nTurns left, the answer included: {self.turns_left}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Try a chain on the gate, or take the answer."""
        words = action.removeprefix("\\boxed{").removesuffix("}").upper().split()
        self.turns_left -= 1
        if words[:1] == ["FINAL"]:
            won = sorted(words[1:]) == self.numbers()
            verdict = "The gate stays open for you." if won else "The gate shuts for good."
            return verdict, float(won), True, False, {}
        if self.turns_left == 0:
            return "The sun has set.", 0.0, True, False, {}
        chain = words[0] if len(words) == 1 else ""
        if len(chain) != 5 or not set(chain) <= set(STONES):
            note = "Show five stones of R, G and B, or write final and numbers."
        elif chain in self.final:
            note = "That one is kept for the end; show another."
        else:
            note = f"{chain} {'opens' if self.rule(chain) else 'does not open'} the gate."
        return f"{note}\nTurns left: {self.turns_left}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the right numbers; a player has to earn them by trying chains."""
        return ["final " + " ".join(self.numbers())]

    def numbers(self) -> list[str]:
        """Return the numbers of the final chains that open the gate."""
        return [str(place) for place, chain in enumerate(self.final, 1) if self.rule(chain)]

    def some_rule(self, rng: random.Random) -> Rule:
        """Draw a rule of one of seven kinds."""
        one, two = rng.sample(STONES, 2)
        return rng.choice(
            [
                lambda chain: chain.count(one) > chain.count(two),
                lambda chain: chain.count(one) % 2 == 1,
                lambda chain: chain.count(one) == 2,
                lambda chain: one + two in chain,
                lambda chain: all(a != b for a, b in pairwise(chain)),
                lambda chain: chain[0] == chain[-1],
                lambda chain: chain[0] == one or chain[-1] == two,
            ]
        )

    def chains(self, rng: random.Random, wanted: bool, count: int) -> list[str]:
        """Draw different chains that do, or do not, open the gate."""
        found: list[str] = []
        while len(found) < count:
            chain = "".join(rng.choices(STONES, k=5))
            if self.rule(chain) == wanted and chain not in found:
                found.append(chain)
        return found
