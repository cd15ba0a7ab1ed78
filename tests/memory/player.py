"""A process that appends plays and standings and prints what is acknowledged, as a trainer does."""

import sys

from conftest import make_environment, make_play, make_standing

from memory import MemoryConfig, Store


def main(root: str, first: int, last: int) -> None:
    store = Store.open(root, MemoryConfig(fresh_s=0.0, compact_every=8), create=True)
    for number in range(first, last):
        environment = make_environment(number % 10).id
        store.append_plays([make_play(20_000 + number, environment=environment)])
        store.upsert_standings([make_standing(environment, 1 + number % 3, updated=number)])
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


main(sys.argv[1], *map(int, sys.argv[2:]))
