"""Importing pools, through the front door and the real sandbox."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import spadework
from envgen.pools import open_pool
from envgen.pools.candidate import Candidate, Unusable, from_row, skills_of
from envgen.pools.limits import Limits
from envgen.pools.local import read
from memory import Store
from spadekit.errors import BadInput

ROOT = Path(__file__).parents[2]
SOUND = ROOT / "tests" / "corpora" / "sound"
FLAWED = ROOT / "tests" / "corpora" / "flawed"
LARGEST = 65_536
LIMITS = Limits(LARGEST)


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> tuple[int, Any]:
    """Run a command with ``--json``; return its exit code and what it printed."""
    monkeypatch.setattr(sys, "argv", ["spadework", *map(str, arguments), "--json"])
    with pytest.raises(SystemExit) as ended:
        spadework.main()
    captured = capsys.readouterr()
    return int(ended.value.code or 0), json.loads(captured.out) if captured.out else captured.err


def good_files() -> list[Path]:
    return sorted(SOUND.glob("*.py"))[:2]


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """A folder with two sound environments, a copy, and six files that will not do."""
    folder = tmp_path / "pool"
    (folder / "deep").mkdir(parents=True)
    for path in good_files():
        shutil.copy(path, folder)
    shutil.copy(good_files()[0], folder / "deep" / "copy.py")
    shutil.copy(FLAWED / "seeded__ignores_seed.py", folder / "fixed.py")
    (folder / "empty.py").write_text(" \n")
    (folder / "binary.py").write_bytes(b"\x7fELF\xff\xfe\0")
    (folder / "huge.py").write_text("#" * (LARGEST + 1))
    (folder / "syntax.py").write_text("class AEnv:\n  def reset(self:\n")
    (folder / "helper.py").write_text("x = 1\n")
    (folder / "__init__.py").write_text("")
    (folder / "notes.txt").write_text("no pool")
    return folder


def test_a_folder_with_bad_files_imports_the_rest_and_twice_adds_nothing(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    pool: Path,
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    code, told = run(monkeypatch, capsys, "import", pool, "--home", home)
    assert code == 0
    assert (told["admitted"], told["known"], told["refused"], told["shard"]) == (2, 1, 6, 1)
    stages = {one["place"]: one["stage"] for one in told["candidates"] if one["stage"]}
    assert stages == {
        "deep/copy.py": "diversity",
        "binary.py": "read",
        "empty.py": "read",
        "huge.py": "read",
        "fixed.py": "seeded",
        "syntax.py": "source",
        "helper.py": "source",
    }
    assert all(one["detail"] for one in told["candidates"] if one["outcome"] == "refused")
    assert str(tmp_path) not in json.dumps(told["uri"])

    with Store.open(home / "store") as store:
        head = store.shards()[0]
        assert head.meta["origin"] == "import"
        assert (head.meta["uri"], head.meta["offered"]) == ("file:pool", 9)
        assert all(one.title for one in store.environments())
        data = store.shard(1)
        assert all(one.text_only and one.reward is None for one in data.designs)
        assert sorted(one.outcome for one in data.designs) == ["admitted"] * 2 + ["refused"] * 6
        assert {one.design for one in data.environments} <= {one.id for one in data.designs}
        assert str(tmp_path) not in json.dumps([one.brief for one in data.designs])
        assert store.verify() == []

    code, again = run(monkeypatch, capsys, "import", pool, "--home", home)
    assert (code, again["shard"], again["admitted"], again["known"]) == (0, None, 0, 3)
    assert [path.name for path in sorted((home / "store" / "shards").iterdir())] == ["000001"]

    # The funnel tells where candidates fell, for imports as for designs.
    code, stats = run(monkeypatch, capsys, "stats", "--funnel", "--home", home)
    assert {(one["outcome"], one["stage"]) for one in stats["funnel"]} >= {
        ("admitted", ""),
        ("refused", "read"),
        ("refused", "seeded"),
    }
    assert stats["stages"][0] == {"stage": "read", "fell": 3, "left": 5}
    assert stats["stages"][-1]["left"] == 2

    # An imported shard is a fixed pool to train on.
    code, plan = run(monkeypatch, capsys, "train", "--dry-run", "--home", home)
    assert (code, plan["step"]["environments"], plan["step"]["shard"]) == (0, 2, 1)
    assert plan["step"]["plays"] > 0
    assert plan["step"]["designs"] == 0

    # What one home holds, another takes as it is, its files or its export.
    other = tmp_path / "other"
    table = home / "store" / "shards" / "000001" / "environments.parquet"
    code, told = run(monkeypatch, capsys, "import", table, "--home", other)
    assert (code, told["admitted"]) == (0, 2)
    with Store.open(home / "store") as one, Store.open(other / "store") as two:
        names = sorted(record.id for record in one.environments())
        assert names == sorted(record.id for record in two.environments())
        assert sorted(r.skills for r in one.environments()) == sorted(
            r.skills for r in two.environments()
        )
    out = tmp_path / "out"
    code, told = run(
        monkeypatch, capsys, "export", names[0], "--to", "source", "--out", out, "--home", home
    )
    third = tmp_path / "third"
    code, told = run(monkeypatch, capsys, "import", told["path"], "--home", third)
    with Store.open(third / "store") as store:
        assert [record.id for record in store.environments()] == names[:1]


def test_what_was_refused_is_not_certified_again_and_the_quarantine_names_its_file(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    folder, home = tmp_path / "pool", tmp_path / "home"
    folder.mkdir()
    shutil.copy(good_files()[0], folder)
    shutil.copy(FLAWED / "seeded__ignores_seed.py", folder / "fixed.py")
    code, told = run(monkeypatch, capsys, "import", folder, "--home", home)
    assert (code, told["admitted"], told["refused"]) == (0, 1, 1)
    [journal] = (home / "runs").rglob("*.jsonl")
    certified = journal.read_bytes()
    shutil.copytree(folder, tmp_path / "again")
    code, told = run(monkeypatch, capsys, "import", tmp_path / "again", "--home", home)
    assert (code, told["known"], told["refused"]) == (0, 1, 1)
    assert journal.read_bytes() == certified
    with Store.open(home / "store") as store:
        [row] = store.scan("quarantine").to_pylist()
    assert row["detail"].startswith("fixed.py: ")


def test_an_import_killed_before_its_shard_was_indexed_is_known_the_next_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder, home = tmp_path / "pool", tmp_path / "home"
    folder.mkdir()
    shutil.copy(good_files()[0], folder)
    index = Store.index

    def killed(store: Store, shard: int | None = None) -> int:
        if (home / "store" / "shards" / "000001").exists():
            raise KeyboardInterrupt
        return index(store, shard)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "index", killed)
        assert run(patched, capsys, "import", folder, "--home", home)[0] == 130
    code, told = run(monkeypatch, capsys, "import", folder, "--home", home)
    assert (code, told["known"], told["duplicate"], told["shard"]) == (0, 1, 0, None)


def test_a_pool_of_refused_ones_only_is_exit_one_and_publishes_no_shard(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    code, told = run(monkeypatch, capsys, "import", folder, "--home", tmp_path / "home")
    assert (code, told["shard"], told["refused"]) == (1, None, 1)
    assert not list((tmp_path / "home" / "store").glob("shards/*"))


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("nowhere", "no such file"),
        ("README.md", "not a pool"),
        ("hf://noname", "hf://USER/NAME"),
        ("x" * 300, "cannot be read"),
    ],
)
def test_what_is_no_pool_is_one_line_and_exit_two(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    uri: str,
    says: str,
) -> None:
    code, told = run(monkeypatch, capsys, "import", uri, "--home", tmp_path / "home")
    assert code == 2
    assert says in told["error"]
    assert len(told["error"].splitlines()) == 1
    assert not any(tmp_path.iterdir())


def test_an_unfinished_round_is_not_pushed_aside(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    pool: Path,
    tmp_path: Path,
) -> None:
    begun = tmp_path / "home" / "runs" / "main" / "rounds" / "000001.jsonl"
    begun.parent.mkdir(parents=True)
    begun.write_text("{}\n")
    code, told = run(monkeypatch, capsys, "import", pool, "--home", tmp_path / "home")
    assert code == 2
    assert "not finished" in told["error"]
    assert begun.exists()


def test_an_import_that_was_killed_goes_on_where_it_was(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    folder = tmp_path / "pool"
    folder.mkdir()
    for path in sorted(SOUND.glob("*.py"))[:3]:
        shutil.copy(path, folder)
    home = tmp_path / "home"
    one_by_one = ("--set", "producer.parallel_certificates=1")
    command = [sys.executable, "-m", "spadework", "import", folder, "--home", home, *one_by_one]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 240
    lines: list[bytes] = []
    while not lines and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
        found = list(home.glob("runs/main/imports/*.jsonl"))
        lines = found[0].read_bytes().splitlines() if found else []
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert lines
    assert not list(home.glob("store/shards/*"))
    done = json.loads(lines[0])["certificate"]
    code, told = run(monkeypatch, capsys, "import", folder, "--home", home, *one_by_one)
    assert (code, told["admitted"]) == (0, 3)
    with Store.open(home / "store") as store:
        # Its seconds are measured, so a certificate made again would be another one.
        assert done in [record.certificate for record in store.environments()]


HUB = """
import contextlib, io, json, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.hub import Hub
work = Path(sys.argv[2])
files = {path.name: path.read_bytes() for path in (work / "files").iterdir()}
with Hub() as hub:
    pin = hub.data_set("tester/pool", files).branches["main"]
    hub.data_set("tester/closed", files).gated = True
    os.environ["HF_ENDPOINT"] = hub.url  # before the client is imported
    import spadework

    def spade(uri, *more):
        sys.argv = ["spadework", "import", uri, *more, "--json", "--home", str(work / "home")]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                spadework.main()
            except SystemExit as end:
                return end.code or 0, out.getvalue(), err.getvalue()

    told = [spade(uri) for uri in ("hf://tester/pool@main", f"hf://tester/pool@{pin}")]
    bad = ("hf://tester/none", "hf://tester/pool@v9", "hf://tester/closed")
    told += [spade(uri) for uri in bad]
    hub.data_set("tester/big", {"train.jsonl": b" " * 1_000_001})
    told.append(spade("hf://tester/big", "--most-mb", "1"))
    newer = {"kind": "spadework release", "schema": 99, "spadework": "9.0"}
    hub.data_set("tester/newer", {"manifest.json": json.dumps(newer).encode()})
    told.append(spade("hf://tester/newer"))
    # What lies here under the name of a data set is not the data set.
    (work / "tester" / "pool").mkdir(parents=True)
    os.chdir(work)
    from envgen.registry import load_environments
    from spadekit.errors import BadInput

    for revision in ("main", "0" * 40):
        try:
            load_environments("tester/pool", revision=revision)
        except BadInput as error:
            told.append((2, json.dumps({"exit": 2}), str(error)))
import huggingface_hub
huggingface_hub.close_session()  # a connection that is kept would still be answered
told.append(spade("hf://tester/pool"))
print(json.dumps({"pin": pin, "told": told, "asked": [path for _, path in hub.log]}))
"""


def test_a_data_set_of_the_hub_is_imported_at_its_commit(tmp_path: Path) -> None:
    """In a process of its own: the client reads where the Hub is when it is imported."""
    one, two = good_files()
    files = tmp_path / "files"
    files.mkdir()
    table = pa.Table.from_pylist([{"source": two.read_text(), "hint": "Look twice."}])
    pq.write_table(table, files / "train.parquet")
    row = {"code": one.read_text(), "tags": ["Spatial Reasoning"], "title": "First"}
    (files / "more.jsonl").write_text(json.dumps(row) + "\nnot json\n")
    (files / "README.md").write_text("# pool\n")
    quiet = {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    environment = {**os.environ, **quiet, "HF_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-c", HUB, str(ROOT), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    first, second, *bad = found["told"]
    told = json.loads(first[1])
    assert (first[0], told["admitted"], told["refused"]) == (0, 2, 1)
    assert told["uri"] == f"hf://tester/pool@{found['pin']}"
    assert not any(path.endswith("README.md") for path in found["asked"])
    assert (second[0], json.loads(second[1])["shard"]) == (0, None)
    words = ("no such data set", "no such revision", "gated")
    words += ("1 files of 1.0 MB (train.jsonl: 1.0 MB); at most 1.0 MB", "newer version")
    here = "the folder of that name is ./tester/pool"
    words += (f"no release of Spadework; `spadework import` may take it; {here}", here)
    words += ("cannot be used",)
    assert not any("big" in path and "resolve" in path for path in found["asked"])
    for (code, out, error), says in zip(bad, words, strict=True):
        assert (code, json.loads(out)["exit"]) == (2, 2)
        assert says in error
        assert len(error.strip().splitlines()) == 1


# Rows of somebody's table


def test_a_row_is_read_whatever_its_columns_are_called() -> None:
    source = "class AEnv: pass\n"
    row = {"Env_Code": source, "hint": None, "skill": "Optimization, tools", "level": "3"}
    assert from_row("p:1", row, 99) == Candidate("p:1", source, "", ("optimisation",), 3)
    row = {"program": source + "# hint: think\n", "tags": '["memory"]', "name": "a", "level": 9}
    assert from_row("p:2", row, 99) == Candidate("p:2 (a)", source, "think", ("memory_recall",), 0)
    row = {"source": source, "hints": ["", "first", "second"], "difficulty": 4.0}
    assert from_row("p:3", row, 99) == Candidate("p:3", source, "first", (), 4)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"prompt": "x"}, "column"),
        ({}, "column"),
        ({"source": 7}, "column"),
        ({"source": "\n"}, "empty"),
        ({"source": "a\0"}, "binary"),
        ({"source": "\ud800"}, "encoding"),
        ({"source": "x" * 100}, "size"),
        ({"source": "é" * 50}, "size"),
    ],
)
def test_a_row_that_will_not_do_says_why(row: dict[str, Any], reason: str) -> None:
    found = from_row("p", row, 99)
    assert isinstance(found, Unusable)
    assert found.reason == reason
    assert found.detail


def test_names_of_skills_are_spelt_our_way_once() -> None:
    names = ["Spatial-Reasoning", "spatial reasoning", "cooking", "API orchestration"]
    assert skills_of(names) == ("spatial_reasoning", "api_orchestration")


def test_seeds_are_read_with_their_sidecar() -> None:
    from envgen.seeds import FOLDER, load

    found = [one for one in read(FOLDER, LIMITS) if isinstance(one, Candidate)]
    assert len(found) == len(load())
    by_source = {one.source: one for one in found}
    for seed in load():
        one = by_source[seed.source]
        assert (one.hint, one.skills, one.difficulty) == (seed.hint, seed.skills, seed.difficulty)


def test_tables_that_cannot_be_read_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no table")
    pq.write_table(pa.table({"prompt": ["x"]}), tmp_path / "b.parquet")
    (tmp_path / "c.jsonl").write_bytes(
        b'{"code": "x = 1"}\n[1]\n\xff\xfe\n\n' + b"[" * 99_999 + b"\n"
    )
    (tmp_path / "d.json").write_text('[{"code": "y = 1"}, 3]')
    found = {one.place: one for one in read(tmp_path, LIMITS)}
    assert [place for place, one in found.items() if isinstance(one, Candidate)] == [
        "c.jsonl:1",
        "d.json:1",
    ]
    bad = {place: one.reason for place, one in found.items() if isinstance(one, Unusable)}
    assert bad == {
        "a.parquet": "unreadable",
        "b.parquet": "unreadable",
        "c.jsonl:2": "json",
        "c.jsonl:3": "json",
        "c.jsonl:5": "json",
        "d.json:2": "json",
    }
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="no file in this folder"):
        list(read(tmp_path / "empty", LIMITS))


GAME = "class AEnv:\n    pass\n"


def test_hidden_folders_virtual_environments_and_node_modules_are_not_walked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in (".venv/lib", ".git", "tools/env/lib", "node_modules/x", "__pycache__", "deep"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.py").write_text("x = 1\n")
    (tmp_path / "tools/env/pyvenv.cfg").touch()
    (tmp_path / ".hidden.py").write_text("x = 1\n")
    assert [one.place for one in read(tmp_path, LIMITS)] == ["deep/a.py"]
    assert "looking at 1 file;" in open_pool(str(tmp_path), LIMITS).note
    assert open_pool(str(tmp_path / "deep/a.py"), LIMITS).note == ""
    listed: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(str(path)) or scandir(path))
    list(read(tmp_path, LIMITS))
    assert not any(name in path for path in listed for name in (".venv", ".git", "node_modules"))


def test_suffixes_in_capitals_are_suffixes(tmp_path: Path) -> None:
    (tmp_path / "BASE.PY").write_text(GAME)
    (tmp_path / "ROWS.JSONL").write_text(json.dumps({"code": GAME}) + "\n")
    assert [one.place for one in read(tmp_path, LIMITS)] == ["BASE.PY", "ROWS.JSONL:1"]
    assert [type(one) for one in read(tmp_path / "BASE.PY", LIMITS)] == [Candidate]


def test_a_level_of_five_thousand_digits_is_no_level(tmp_path: Path) -> None:
    digits = "9" * 5000
    for level in (f'"{digits}"', digits, f"-{digits}", "1e999"):
        path = tmp_path / "rows.jsonl"
        path.write_text(f'{{"code": {json.dumps(GAME)}, "level": {level}}}\n')
        assert list(read(path, LIMITS)) == [Candidate("rows.jsonl:1", GAME)]
        path.write_text(f'[{{"code": {json.dumps(GAME)}, "level": {level}}}]')
        assert list(read(path, LIMITS)) == [Candidate("rows.jsonl:1", GAME)]


def test_dates_that_python_has_not_leave_a_table_readable(tmp_path: Path) -> None:
    far = pa.array([2**62, 2**62], pa.timestamp("us"))
    table = {"code": [GAME, GAME], "name": far, "level": pa.array([2**31 - 1, 0], pa.date32())}
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    nested = {"code": [GAME, GAME], "tags": pa.array([[2**62], []], pa.list_(pa.timestamp("us")))}
    pq.write_table(pa.table(nested), tmp_path / "b.parquet")
    first, second, third = read(tmp_path, LIMITS)
    assert (first, second) == (Candidate("a.parquet:1", GAME), Candidate("a.parquet:2", GAME))
    assert isinstance(third, Unusable) and third.reason == "unreadable"


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.parquet", "c.py"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(BadInput, match="not a regular file"):
            list(read(tmp_path / name, LIMITS))
    (tmp_path / "d.py").symlink_to("nowhere")
    (tmp_path / "e.py").mkdir()
    (tmp_path / "f.py").write_text(GAME)
    found = list(read(tmp_path, LIMITS))
    assert [isinstance(one, Unusable) for one in found] == [True] * 4 + [False]


@pytest.mark.parametrize("hint", ["Think.\rprint(1)", "a\x1b[2J", "a\ud800", "a\u2028b"])
def test_a_hint_that_is_no_plain_text_is_refused_wherever_it_stands(
    tmp_path: Path, hint: str
) -> None:
    (tmp_path / "a.py").write_text(f"{GAME}# hint: {json.dumps(hint)}\n")
    (tmp_path / "b.jsonl").write_text(json.dumps({"code": GAME, "hint": hint}) + "\n")
    found = list(read(tmp_path, LIMITS))
    assert [isinstance(one, Unusable) and one.reason for one in found] == ["hint", "hint"]
    row = {"code": GAME, "hint": "First.\r\nThen."}
    assert from_row("p", row, LARGEST) == Candidate("p", GAME, "First.\nThen.")


@pytest.mark.parametrize("text", ["a = " + "[" * 50_000, "a = " + "9" * 5000, "a = {" * 3000])
def test_a_sidecar_that_cannot_be_read_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.py").write_text(GAME)
    (tmp_path / "seeds.toml").write_text(text)
    with pytest.raises(BadInput) as refused:
        list(read(tmp_path, LIMITS))
    assert len(str(refused.value).splitlines()) == 1


def test_names_that_are_no_text_are_told_and_kept_as_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / os.fsdecode(b"po[red]ol\xe9")
    folder.mkdir()
    shutil.copy(good_files()[0], folder / os.fsdecode(b"caf\xe9\x1b[31m.py"))
    rows = [{"\ud800col": "x"}, {"id": "\udfff", "prompt": 1}, {"id": "\ud800", "source": "x = 1"}]
    (folder / "z.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    home = tmp_path / "home"
    code, told = run(monkeypatch, capsys, "import", folder, "--home", home)
    assert (code, told["admitted"], told["refused"]) == (0, 1, 3)
    json.dumps(told, ensure_ascii=False).encode()
    assert all(one["place"].isprintable() for one in told["candidates"])
    assert told["candidates"][0]["place"] == "caf\ufffd\ufffd[31m.py"
    assert told["uri"] == "file:po[red]ol\ufffd"
    with Store.open(home / "store") as store:
        assert store.verify() == []
        assert len(store.shard(1).designs) == 4


def test_a_circle_of_links_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").symlink_to(tmp_path / "b.py")
    (tmp_path / "b.py").symlink_to(tmp_path / "a.py")
    with pytest.raises(BadInput, match="cannot be read|no such file"):
        list(open_pool(str(tmp_path / "a.py"), LIMITS).read())
    assert [one.detail for one in read(tmp_path, LIMITS) if isinstance(one, Unusable)] == [
        "not a regular file"
    ] * 2
