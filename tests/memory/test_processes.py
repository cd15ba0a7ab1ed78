"""Several processes share one store: a producer, a trainer, a reader, and one that rebuilds."""

import os
import subprocess
import sys
from pathlib import Path

from memory import MemoryConfig, Store

HERE = Path(__file__).parent


def _start(script, root, *numbers):
    path = os.pathsep.join([str(HERE), str(HERE.parents[1])])
    return subprocess.Popen(
        [sys.executable, str(HERE / script), str(root), *map(str, numbers)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


def test_a_producer_a_trainer_a_reader_and_rebuilds_share_a_store(tmp_path, make):
    root = tmp_path / "store"
    processes = [
        _start("writer.py", root, 1, 5, 5),
        _start("player.py", root, 0, 15),
    ]
    with Store.open(root, MemoryConfig(fresh_s=0.0), create=True) as store:
        counts = [0]
        while any(process.poll() is None for process in processes):
            counts.append(len(store.environments()))
            store.latest_standings()
            if len(counts) % 6 == 0:
                with Store.open(root) as other:
                    other._indexer.rebuild()  # without the embeddings, which take long
        assert [process.wait() for process in processes] == [0, 0]
        for process in processes:
            process.stdout.close()
        assert counts == sorted(counts)  # nobody ever sees half a rebuild
        assert len(counts) > 6
        assert len(store.environments()) == 4 * 5
        assert len(store.shards()) == 4
        plays = store.scan("plays").column("id").to_pylist()
        assert len(plays) == len(set(plays)) == 4 * 5 + 4 + 15
        # The environments of `make_environment(0..9)`, versions 1..3: the greatest number wins.
        wanted = {(number % 10, 1 + number % 3): number for number in range(15)}
        for (number, version), updated in wanted.items():
            mine = store.standings(make.environment(number).id)
            (found,) = [one for one in mine if one.policy_version == version]
            assert found.updated == updated
        assert store.verify() == []
