"""Seeds derived from one root seed by name, so that no two uses share a stream."""

import hashlib


def derive(root: int, *parts: str | int) -> int:
    """Return a seed in [0, 2**63) that depends on ``root`` and every part, and on nothing else.

    ``hash()`` is salted per process and ``root + i`` collides between uses; a keyed digest does neither.
    """
    text = "\x1f".join([str(root), *map(str, parts)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1
