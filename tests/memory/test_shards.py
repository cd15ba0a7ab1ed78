"""Shards are published whole or not at all, never change, and say when they were damaged."""

import json
import os
from pathlib import Path

import pytest

from memory import shards
from memory.places import place_of
from memory.schema import PlayRecord
from spadekit import files
from spadekit.errors import BadInput


@pytest.fixture
def records(make):
    return {
        "environments": [make.environment(number) for number in range(3)],
        "designs": [make.design(number) for number in range(2)],
        "plays": [make.play(number) for number in range(4)],
        "standings": [make.standing("e")],
    }


META = {"policy_version": 3, "config_digest": "c0ffee", "run": "first"}


def test_a_shard_reads_back_as_it_was_published(tmp_path, records):
    manifest = shards.publish(place_of(tmp_path), 2, _moved(records, 2), META)
    data = shards.read(place_of(tmp_path), 2)
    assert data.manifest == manifest
    for name, rows in _moved(records, 2).items():
        assert list(getattr(data, name)) == rows
        assert manifest.rows(name) == len(rows)
    assert (manifest.policy_version, manifest.config_digest) == (3, "c0ffee")
    assert manifest.meta == {"run": "first"}
    assert shards.numbers(place_of(tmp_path)) == [2]


def test_an_empty_shard_is_a_shard(tmp_path, records):
    shards.publish(place_of(tmp_path), 1, {name: [] for name in records}, {})
    assert shards.read(place_of(tmp_path), 1).environments == ()
    assert shards.verify(place_of(tmp_path)) == []


def test_publishing_the_same_again_changes_nothing(tmp_path, records):
    first = shards.publish(place_of(tmp_path), 1, records, META)
    before = _bytes(tmp_path)
    assert shards.publish(place_of(tmp_path), 1, records, {"other": "meta"}) == first
    assert _bytes(tmp_path) == before


def test_other_records_under_a_published_number_are_refused(tmp_path, records, make):
    shards.publish(place_of(tmp_path), 1, records, META)
    before = _bytes(tmp_path)
    with pytest.raises(BadInput, match=r"already published with other records.*next: 2"):
        shards.publish(place_of(tmp_path), 1, {**records, "plays": [make.play(9)]}, META)
    assert _bytes(tmp_path) == before


def test_a_failure_while_writing_leaves_nothing_behind(tmp_path, records, monkeypatch):
    def full_disk(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "sync", full_disk)
    with pytest.raises(BadInput, match="the disk is full.*make room"):
        shards.publish(place_of(tmp_path), 1, records, META)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    shards.publish(place_of(tmp_path), 1, records, META)
    assert shards.verify(place_of(tmp_path)) == []


def test_every_file_and_the_folder_are_synced_before_the_rename(tmp_path, records, monkeypatch):
    synced: list[str] = []
    real = os.fsync

    def fsync(handle):
        synced.append(Path(f"/proc/self/fd/{handle}").readlink().name)
        real(handle)

    monkeypatch.setattr(files.os, "fsync", fsync)
    shards.publish(place_of(tmp_path), 1, records, META)
    for name in ("environments", "designs", "plays", "standings"):
        assert f"{name}.parquet" in synced
    assert "manifest.json" in synced
    assert synced[-1] == tmp_path.name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r, make: {**r, "environments": [make.environment(0, shard=7)]}, "another shard"),
        (lambda r, make: {**r, "plays": [make.play(0), make.play(0)]}, "stands in it twice"),
        (lambda r, make: {**r, "plays": [make.play(0, turns="two")]}, "PlayRecord.turns"),
    ],
)
def test_malformed_records_are_refused_in_one_line(tmp_path, records, make, change, message):
    with pytest.raises(BadInput, match=message):
        shards.publish(place_of(tmp_path), 1, change(records, make), META)
    assert list(tmp_path.iterdir()) == []


def test_shard_numbers_start_at_one(tmp_path, records):
    with pytest.raises(BadInput, match="start at 1"):
        shards.publish(place_of(tmp_path), 0, _moved(records, 0), META)


def test_a_torn_or_changed_file_is_named(tmp_path, records):
    shards.publish(place_of(tmp_path), 1, records, META)
    shards.publish(place_of(tmp_path), 2, _moved(records, 2), META)
    torn = tmp_path / "000001" / "plays.parquet"
    torn.write_bytes(torn.read_bytes()[:-10])
    missing = tmp_path / "000002" / "designs.parquet"
    missing.unlink()
    problems = shards.verify(place_of(tmp_path))
    assert len(problems) == 2
    assert str(torn) in problems[0]
    assert "SHA-256" in problems[0]
    assert str(missing) in problems[1]
    with pytest.raises(BadInput, match=r"plays\.parquet.*SHA-256"):
        shards.read(place_of(tmp_path), 1)


def test_a_changed_manifest_is_named(tmp_path, records):
    shards.publish(place_of(tmp_path), 1, records, META)
    path = tmp_path / "000001" / "manifest.json"
    body = json.loads(path.read_text())
    body["policy_version"] = 99
    path.write_text(json.dumps(body))
    assert "digest does not match" in shards.verify(place_of(tmp_path))[0]
    for damaged in ("{", "[" * 100_000):
        path.write_text(damaged)
        assert "not a manifest" in shards.verify(place_of(tmp_path))[0]
    path.unlink()
    assert "a shard without a manifest" in shards.verify(place_of(tmp_path))[0]


def test_a_folder_that_is_not_named_like_a_shard_is_none(tmp_path, records):
    shards.publish(place_of(tmp_path), 1, records, META)
    for name in ("²", "١٢٣٤٥٦", "1", "0000001", "00000²"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text("{}")
    assert shards.numbers(place_of(tmp_path)) == [1]
    assert shards.verify(place_of(tmp_path)) == []


def test_a_shard_of_a_newer_version_is_refused(tmp_path, records):
    shards.publish(place_of(tmp_path), 1, records, META)
    path = tmp_path / "000001" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema": 99}))
    with pytest.raises(BadInput, match=r"newer version.*upgrade"):
        shards.read(place_of(tmp_path), 1)


def test_an_unknown_shard_is_answered_with_those_that_exist(tmp_path, records):
    with pytest.raises(BadInput, match="has none yet"):
        shards.read(place_of(tmp_path), 1)
    shards.publish(place_of(tmp_path), 1, records, META)
    with pytest.raises(BadInput, match="no shard 8; the store has 1 to 1"):
        shards.read(place_of(tmp_path), 8)


def test_logs_are_named_by_their_content_and_checked(tmp_path, make):
    plays = [make.play(1), make.play(2)]
    log = shards.append_log(place_of(tmp_path), PlayRecord, plays)
    assert str(shards.append_log(place_of(tmp_path), PlayRecord, plays)) == str(log)
    assert shards.read_log(log, PlayRecord) == plays
    assert shards.verify_logs(place_of(tmp_path)) == []
    path = log.path
    path.write_bytes(path.read_bytes() + b"x")
    assert str(path) in shards.verify_logs(place_of(tmp_path))[0]
    with pytest.raises(BadInput, match="differs from its name"):
        shards.read_log(log, PlayRecord)


def _moved(records, shard):
    from dataclasses import replace

    return {
        name: [replace(one, shard=shard) for one in rows]
        if name in ("environments", "designs")
        else rows
        for name, rows in records.items()
    }


def _bytes(folder):
    return {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }
