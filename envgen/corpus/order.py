"""A seeded order of any number of things, computed one place at a time. Pure."""

from spadekit.seeds import derive

ROUNDS = 6


def shuffled(place: int, size: int, seed: int) -> int:
    """Return which of ``size`` things stands at ``place`` of the order that ``seed`` decides.

    Over all places every thing comes once. Nothing is stored, so millions of documents need no list:
    a Feistel network permutes the numbers of an even number of bits, and a number that is not among
    the things is permuted again (cycle walking; less than four times on the average).
    """
    if not 0 <= place < size:
        raise ValueError(f"place {place} is not below {size}")
    half = max(1, ((size - 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    while True:
        left, right = place >> half, place & mask
        for number in range(ROUNDS):
            left, right = right, left ^ (derive(seed, number, right) & mask)
        place = left << half | right
        if place < size:
            return place
