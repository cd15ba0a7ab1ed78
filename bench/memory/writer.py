"""A process that publishes shards and says which are acknowledged; ``crowd`` runs and kills it."""

import sys

from bench.memory import synthetic
from memory import MemoryConfig, PlayRecord, Store, record_id

SIZE = 4  # environments per publication


def write(root: str, first: int, publications: int, upkeep: bool) -> None:
    """Publish shards, saying each number when it is acknowledged; compact now and then."""
    config = MemoryConfig(fresh_s=0.0, compact_every=8)
    with Store.open(root, config, create=True) as store:
        _say("up")
        for shard in range(first, first + publications):
            numbers = range(shard * SIZE, (shard + 1) * SIZE)
            records = [synthetic.environment(number, shard) for number in numbers]
            standings = [
                synthetic.standing(one, number)
                for one, number in zip(records, numbers, strict=True)
            ]
            store.publish(shard, records, [], [_play(shard)], standings, meta={})
            _say(shard)
            if upkeep and shard % 2 == 0:
                store.compact()


def _play(number: int) -> PlayRecord:
    return PlayRecord(
        id=record_id("play", number),
        environment="e",
        seed=number,
        arm="hinted",
        purpose="probe",
        episode_return=0.5,
        turns=1,
        fault="",
        stop="terminated",
        policy_version=0,
        temperature=1.0,
        ids=(1,),
        mask=(1,),
        logprobs=(0.0,),
        transcript="[]",
    )


def _say(word: object) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:] == ["upkeep"])
