"""Damaged tables, full disks and folders that may only be read: one line each, nothing lost."""

import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import lancedb
import pytest

from memory import MemoryConfig, Store, shards
from memory.faults import explain, is_storage
from spadekit.errors import BadInput

HERE = Path(__file__).parent
CONFIG = MemoryConfig(fresh_s=0.0)
READER = """
import json, os, sys
from conftest import make_environment, make_play
from memory import MemoryConfig, Store
from spadekit.errors import BadInput
store, found = Store.open(sys.argv[1], MemoryConfig(fresh_s=0.0)), {}
store.search(like=make_environment(0).id)  # imports all that an ordinary user might not read
store.close()
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(12345)
    os.setuid(12345)
for name, work in {
    "read": lambda: len(store.environments()),
    "search": lambda: len(store.search(like=make_environment(0).id, limit=3)),
    "verify": lambda: store.verify(),
    "publish": lambda: store.publish(2, [make_environment(20, 2)], [], [], [], meta={}),
    "plays": lambda: store.append_plays([make_play(9)]),
    "release": lambda: store.make_release("v1", [1]),
    "rebuild": lambda: store.rebuild(),
}.items():
    try:
        found[name] = work()
    except BadInput as error:
        found[name] = str(error)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def embedded(tmp_path_factory, embedder, library):
    """A copy of the full store that tests may copy again and damage."""
    root = tmp_path_factory.mktemp("embedded") / "store"
    shutil.copytree(library.place.path, root)
    return root


@contextmanager
def _file_limit(size):
    """Let no file grow beyond ``size`` bytes: what is longer meets a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _damage(path, how):
    data = path.read_bytes()
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(data[: len(data) // 2] if how == "torn" else bytes(len(data)))


@pytest.mark.parametrize("nested", ["[" * 100_000, '{"schema":' * 100_000])
def test_json_nested_without_end_is_a_damaged_file_that_is_named(
    embedded, embedder, tmp_path, nested
):
    root = tmp_path / "store"
    shutil.copytree(embedded, root)
    manifest, release = root / "shards" / "000001" / "manifest.json", root / "releases" / "x.json"
    release.parent.mkdir()
    manifest.write_text(nested)
    release.write_text(nested)
    with Store.open(root, CONFIG, embedder=embedder) as store:
        for problem, path in zip(store.verify(), (manifest, release), strict=True):
            assert problem.startswith(f"{path}: not a ")
        for work in (store.shards, store.releases, store.rebuild):
            with pytest.raises(BadInput, match="not a "):
                work()
    for name in ("tables.json", "store.json"):
        (root / name).write_text(nested)
        with pytest.raises(BadInput, match=name):
            Store.open(root)
    (root / "store.json").write_text('{"schema": 1e999}')
    with pytest.raises(BadInput, match="not a store's mark"):
        Store.open(root)


@pytest.mark.parametrize(
    ("table", "part", "how"),
    [
        *itertools.product(["environments", "vectors"], ["data", "_versions"], ["torn", "gone"]),
        ("indexed", "data", "torn"),
        ("indexed", "_versions", "gone"),
        ("environments", "data", "zeros"),
        ("standings", "_versions", "zeros"),
    ],
)
def test_damaged_tables_are_one_line_and_a_rebuild_mends_them(
    embedded, embedder, make, tmp_path, table, part, how
):
    root = tmp_path / "store"
    shutil.copytree(embedded, root)
    for path in (root / "lance" / f"{table}.lance" / part).iterdir():
        _damage(path, how)
    with Store.open(root, CONFIG, embedder=embedder) as store:
        try:
            hits = store.search(like=make.environment(3).id, limit=3)
            assert len(hits) == 3  # it could do without that file, or has made it again
        except BadInput as error:
            assert str(error).startswith(f"{root}: its tables are damaged (")
            assert "`spadework memory rebuild`" in str(error)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(store._indexer, "embed_missing", lambda: 0)  # has its own tests
            store.rebuild()
        assert len(store.environments()) == 10
        assert store.latest_standings()[make.environment(3).id].regret == 0.5
        assert store.verify() == []


def test_tables_of_an_older_layout_are_one_line_and_a_rebuild_mends_them(
    embedded, embedder, make, tmp_path
):
    root = tmp_path / "store"
    shutil.copytree(embedded, root)
    lancedb.connect(root / "lance").open_table("vectors").drop_columns(["words"])
    with Store.open(root, CONFIG, embedder=embedder) as store:
        with pytest.raises(BadInput, match=r"vectors has no words.*`spadework memory rebuild`"):
            store.search("a canal", limit=3)
        store.rebuild()
        assert len(store.search(like=make.environment(3).id, limit=3)) == 3


def test_tables_that_somebody_removed_come_back_by_themselves(full, make):
    assert len(full.environments()) == 10
    shutil.rmtree(full.place.path / "lance")
    assert len(full.environments()) == 10
    assert full.verify() == []


def test_a_stray_empty_folder_is_no_shard_and_one_without_a_manifest_is_named(full, make):
    stray = full.place.path / "shards" / "000002"
    stray.mkdir()
    assert [one.shard for one in full.shards()] == [1]
    full.publish(2, [make.environment(20, 2)], [], [], [], meta={})
    broken = full.place.path / "shards" / "000003"
    broken.mkdir()
    (broken / "plays.parquet").write_bytes(b"")
    line = rf"{broken}: a shard without a manifest; restore it from a copy, or move"
    with pytest.raises(BadInput, match=line):
        full.shards()
    with pytest.raises(BadInput, match=line):
        full.publish(3, [make.environment(30, 3)], [], [], [], meta={})
    assert any(str(broken) in problem for problem in full.verify())


def test_a_publisher_killed_before_it_could_index_is_caught_up_by_the_next_reader(full, make):
    records = {name: [] for name in shards.KINDS} | {"environments": [make.environment(20, 2)]}
    shards.publish(full.place / "shards", 2, records, {})  # all that a kill leaves of `publish`
    with Store.open(full.place.path, CONFIG) as other:
        assert len(other.environments()) == 11
    assert full.verify() == []


def test_a_full_disk_leaves_no_part_of_a_shard(full, make):
    before = full.place.files()
    large = make.environment(20, 2, source=os.urandom(50_000).hex())
    with _file_limit(4_000):
        with pytest.raises(BadInput, match=r"the disk is full .*make room and run the command"):
            full.publish(2, [large], [], [], [], meta={})
        with pytest.raises(BadInput, match="the disk is full"):
            full.append_plays([make.play(9, transcript=os.urandom(50_000).hex())])
    assert full.place.files() == before
    assert not [one for one in (full.place.path / "shards").iterdir() if one.name.startswith(".")]
    full.publish(2, [large], [], [], [], meta={})
    assert full.verify() == []


def test_a_disk_that_fills_up_after_the_shard_loses_nothing(full, make):
    # Parquet packs it into little; the tables keep it as it is.
    large = make.environment(20, 2, source="x = 1\n" * 10_000, design="d" * 50_000)
    with (
        _file_limit(9_000),
        pytest.raises(BadInput, match=r"the disk is full .*what was published stays"),
    ):
        full.publish(2, [large], [], [], [], meta={})
    assert [one.shard for one in full.shards()] == [1, 2]
    assert len(full.environments()) == 11
    assert full.verify() == []


def test_a_folder_that_may_only_be_read_is_read_and_refuses_the_rest_in_one_line(embedded):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        root = Path(folder) / "store"
        shutil.copytree(embedded, root)
        root.chmod(0o755)
        as_root = os.geteuid() == 0
        if not as_root:
            for path in [root, *root.rglob("*")]:
                path.chmod(0o555 if path.is_dir() else 0o444)
        path = os.pathsep.join([str(HERE), str(HERE.parents[1])])
        done = subprocess.run(
            [sys.executable, "-B", "-c", READER, str(root)],
            env={**os.environ, "PYTHONPATH": path, "HOME": folder},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert (found["read"], found["search"], found["verify"]) == (10, 3, [])
        for name in ("publish", "plays", "release", "rebuild"):
            assert "it cannot be written (Permission denied)" in found[name], found
        if not as_root:
            for path in root.rglob("*"):
                path.chmod(0o755)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("OSError: No space left on device (os error 28)", "the disk is full"),
        ("[Errno 30] Read-only file system: 'x'", "it cannot be written"),
        ("... <Code>NoSuchBucket</Code> ...", "there is no such bucket"),
        ("status: 403, body: Some(<Code>SignatureDoesNotMatch</Code>", "access is refused"),
        ("http://169.254.169.254/latest: error sending request", "there are no credentials"),
        ("dns error: failed to lookup", "it cannot be reached"),
        ("something\nelse", r"cannot be used \(something else\)"),
    ],
)
def test_causes_are_told_by_what_to_do(text, line):
    import re

    found = explain(RuntimeError(text), "here")
    assert re.match(f"here: {line}", found)
    assert "\n" not in found


@pytest.mark.parametrize(
    "error", [ValueError("no"), KeyError("id"), TypeError("x"), KeyboardInterrupt()]
)
def test_mistakes_of_ours_are_not_taken_for_storage(error):
    assert not is_storage(error)
