"""A process that publishes shards and prints what is acknowledged; tests run and kill it."""

import sys

from conftest import make_design, make_environment, make_play, make_standing

from memory import MemoryConfig, Store


def say(word: object) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def main(root: str, first: int, last: int, size: int) -> None:
    store = Store.open(root, MemoryConfig(fresh_s=0.0, compact_every=8), create=True)
    say("ready")
    for shard in range(first, last):
        numbers = [shard * size + one for one in range(size)]
        environments = [make_environment(number, shard) for number in numbers]
        standings = [make_standing(one.id, updated=shard) for one in environments]
        designs = [make_design(number, shard) for number in numbers]
        plays = [make_play(number) for number in numbers]
        store.publish(shard, environments, designs, plays, standings, meta={"policy_version": 0})
        store.append_plays([make_play(10_000 + shard)])
        say(shard)


main(sys.argv[1], *map(int, sys.argv[2:]))
