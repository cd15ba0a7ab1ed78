"""When a share of wins is too high: a one-sided binomial bound, so luck refuses nobody. Pure."""

from collections import Counter
from collections.abc import Hashable, Sequence
from math import comb

SHARE = 0.05
"""How much of its plays a player without skill may win."""
GUESSABLE = 0.1
"""How often the answer of one seed may be right on another, where a play is one answer."""
ERROR = 0.01


def tail(wins: int, plays: int, share: float = SHARE) -> float:
    """Return the probability of at least ``wins`` in ``plays`` when each is won with ``share``."""
    fewer = sum(comb(plays, k) * share**k * (1 - share) ** (plays - k) for k in range(wins))
    return max(0.0, 1.0 - fewer)


def too_many(wins: int, plays: int, share: float = SHARE) -> bool:
    """Say whether so many wins would come less than once in 100 if the true share were ``share``.

    At 5 %, 3 of 8 are too many, 2 of 8 are not; 7 of 40 are too many, 6 of 40 are not.
    """
    return wins > share * plays and tail(wins, plays, share) < ERROR


def alike(answers: Sequence[Hashable]) -> tuple[int, int]:
    """Return (how many pairs of seeds have the same answer, how many pairs there are).

    Their ratio is how often the answer of one seed is right on another. With k answers equally
    often it is 1 / k, and the pairs are uncorrelated, so ``too_many`` judges them like plays: 40
    answers tell 6 or fewer possible ones from 10 nearly always.
    """
    same = sum(comb(count, 2) for count in Counter(answers).values())
    return same, comb(len(answers), 2)
