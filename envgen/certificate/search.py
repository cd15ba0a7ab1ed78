"""A player who looks for a number by halving a range that the texts name. Pure."""

import re
from collections.abc import Sequence

from sandbox import Observation

QUICK = 3
"""A win in so few turns needed no search: there were hardly more numbers than tries."""
READ = 8_000
NUMBER = r"(-?[0-9]{1,9})"
BETWEEN = r"\s{0,2}(?:and|to|up to|through|\.\.\.?|\u2013|-)\s{0,2}"
RANGE = re.compile(rf"(?<![\w.]){NUMBER}{BETWEEN}{NUMBER}(?![\w.]*[0-9])", re.IGNORECASE)
UP = re.compile(
    r"\b(?:higher|larger|bigger|greater|more|up|above|too (?:low|small|little|few))\b",
    re.IGNORECASE,
)
DOWN = re.compile(
    r"\b(?:lower|smaller|less|fewer|down|below|too (?:high|large|big|much|many))\b", re.IGNORECASE
)


def named_range(text: str) -> tuple[int, int] | None:
    """Return the first range of two numbers or more that a text names, as in "from 1 to 100"."""
    for match in RANGE.finditer(text[:READ]):
        low, high = int(match[1]), int(match[2])
        if low < high:
            return low, high
    return None


def next_guess(seen: Sequence[Observation]) -> str | None:
    """Return the number that a player would name next, or ``None`` when none is left.

    The player halves; "higher" and its kin move the lower bound, "lower" and its kin the upper
    one, a narrower range in a text counts too. A text that says neither, or both, only rules out
    the number that was named; the nearest one is tried then.
    """
    texts = ["\n".join(message.content for message in observation) for observation in seen]
    found = named_range(texts[0])
    if found is None:
        return None
    low, high = found
    tried: set[int] = set()
    guess = _middle(low, high, tried)
    for text in texts[1:]:
        if guess is None:
            return None
        tried.add(guess)
        up, down = bool(UP.search(text[:READ])), bool(DOWN.search(text[:READ]))
        if up and not down:
            low = guess + 1
        elif down and not up:
            high = guess - 1
        narrower = named_range(text)
        if narrower is not None and low <= narrower[0] and narrower[1] <= high:
            low, high = narrower
        guess = _middle(low, high, tried)
    return None if guess is None else str(guess)


def _middle(low: int, high: int, tried: set[int]) -> int | None:
    """Return the number nearest to the middle that was not tried."""
    middle = (low + high) // 2
    for distance in range(len(tried) + 1):
        for guess in (middle - distance, middle + distance):
            if low <= guess <= high and guess not in tried:
                return guess
    return None
