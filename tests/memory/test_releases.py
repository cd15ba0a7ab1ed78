"""Releases name shards for good, and a store that lost one of them says so in one line."""

import json
import shutil

import pytest

from memory import Store, shards
from memory.releases import format_shards, parse_shards
from spadekit.errors import BadInput


@pytest.fixture
def three(store, make):
    for shard in (1, 2, 3):
        store.publish(shard, [make.environment(shard, shard)], [], [], [], meta={})
    return store


def test_a_release_gives_the_manifests_of_its_shards(three):
    made = three.make_release("v1", [2, 1, 2])
    assert made.shards == (1, 2)
    assert three.release("v1") == three.shards()[:2]
    assert three.releases() == [made]
    assert three.verify() == []


def test_the_same_release_again_changes_nothing_and_another_is_refused(three):
    made = three.make_release("v1", [1, 2])
    path = three.place.path / "releases" / "v1.json"
    before = path.read_bytes()
    assert three.make_release("v1", [1, 2]) == made
    with pytest.raises(BadInput, match=r"v1 exists with other shards \(1\.\.2\).*another name"):
        three.make_release("v1", [1, 2, 3])
    assert path.read_bytes() == before


def test_a_release_of_a_missing_shard_is_refused_and_nothing_is_written(three):
    with pytest.raises(BadInput, match="no shard 7; the store has 1 to 3"):
        three.make_release("v1", [1, 7])
    assert three.releases() == []
    with pytest.raises(BadInput, match="no release v1; the store has none yet"):
        three.release("v1")


def test_a_shard_that_a_release_names_and_the_store_lost_is_one_line(three):
    three.make_release("v1", [1, 2])
    shutil.rmtree(three.place.path / "shards" / "000002")
    line = r"release v1 names shard 2, which is not there; restore .*000002 from a copy"
    with pytest.raises(BadInput, match=line):
        three.release("v1")
    assert any("release v1 names shard 2" in problem for problem in three.verify())


def test_a_shard_that_was_exchanged_is_named(three, make):
    three.make_release("v1", [2])
    shutil.rmtree(three.place.path / "shards" / "000002")
    records = {name: [] for name in shards.KINDS}
    shards.publish(three.place / "shards", 2, records, {})
    with pytest.raises(BadInput, match="names another shard 2"):
        three.release("v1")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 99}, "newer version.*upgrade"),
        ({"shards": []}, "digest does not match"),
        (None, "not a release"),
    ],
)
def test_a_damaged_release_is_named(three, change, message):
    three.make_release("v1", [1])
    path = three.place.path / "releases" / "v1.json"
    path.write_text(
        "[" * 100_000 if change is None else json.dumps(json.loads(path.read_text()) | change)
    )
    with pytest.raises(BadInput, match=message):
        three.release("v1")
    assert [str(path) in problem for problem in three.verify()] == [True]


@pytest.mark.parametrize("name", ["", "a b", "../up", ".hidden", "x" * 65, "a/b", "ä"])
def test_names_that_could_be_no_tag_are_refused(three, name):
    with pytest.raises(BadInput, match="is no name for a release"):
        three.make_release(name, [1])


def test_a_release_outlives_a_rebuild_and_is_seen_by_others(three):
    made = three.make_release("v1", [1, 3])
    three.rebuild()
    assert Store.open(three.place.path).releases() == [made]


@pytest.mark.parametrize(
    ("text", "numbers"), [("1..3", [1, 2, 3]), ("2", [2]), ("1, 3,5..6", [1, 3, 5, 6])]
)
def test_lists_of_shards_are_read_and_written(text, numbers):
    assert parse_shards(text) == numbers
    assert parse_shards(format_shards(numbers)) == numbers


@pytest.mark.parametrize("text", ["", "a", "3..1", "0", "1..", "1...3", "-1", "1;2", "1..9999999"])
def test_what_is_no_list_of_shards_is_refused(text):
    with pytest.raises(BadInput, match="shards"):
        parse_shards(text)
