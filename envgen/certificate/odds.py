"""When a share of wins is too high: a one-sided binomial bound, so luck refuses nobody. Pure."""

from math import comb

SHARE = 0.05
ERROR = 0.01


def tail(wins: int, plays: int, share: float = SHARE) -> float:
    """Return the probability of at least ``wins`` in ``plays`` when each is won with ``share``."""
    return sum(
        comb(plays, k) * share**k * (1 - share) ** (plays - k) for k in range(wins, plays + 1)
    )


def too_many(wins: int, plays: int) -> bool:
    """Say whether so many wins would come less than once in 100 if the true share were 5 %.

    3 of 8 are too many, 2 of 8 are not; 7 of 40 are too many, 6 of 40 are not.
    """
    return wins > 0 and tail(wins, plays) < ERROR
