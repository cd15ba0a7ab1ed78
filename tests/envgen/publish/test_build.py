"""A release in a folder: what it holds, what it refuses, and the command that writes it."""

import dataclasses
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import datasets
import pytest
import yaml

import spadework
from envgen.corpus import CorpusConfig
from envgen.publish import manifest
from envgen.publish.scan import Machine
from memory import EnvironmentRecord, Store
from spadekit.errors import BadInput

from .conftest import environment, fill, make


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> tuple[int, Any]:
    """Run a command with ``--json``; return its exit code and what it printed."""
    monkeypatch.setattr(sys, "argv", ["spadework", *map(str, arguments), "--json"])
    with pytest.raises(SystemExit) as ended:
        spadework.main()
    return int(ended.value.code or 0), json.loads(capsys.readouterr().out)


def test_a_dry_run_is_a_data_set_that_loads_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    home: Path,
    records: list[EnvironmentRecord],
    tmp_path: Path,
) -> None:
    target = tmp_path / "release"
    command = ("publish", "tester/envs", "--home", home, "--dry-run", target)
    code, told = run(monkeypatch, capsys, *command)
    assert code == 0, told
    assert (told["tag"], told["environments"], told["plays"]) == ("shards-1-3", 3, 8)
    cache = str(tmp_path / "cache")
    found = datasets.load_dataset(str(target), cache_dir=cache, split="train")
    assert found["id"] == [one.id for one in records]
    assert found["regret"] == [None, 0.5, 0.5]
    assert found["skills"][0] == list(records[0].skills)
    for row, record in zip(found, records, strict=True):
        assert row["source"] == record.source
        messages = json.loads(row["solution"])
        assert {one["role"] for one in messages} >= {"user", "assistant"}
    plays = datasets.load_dataset(str(target), "plays", cache_dir=cache, split="train")
    assert set(plays["environment"]) == {one.id for one in records[1:]}
    held = manifest.read(target)
    assert {*held.files, manifest.NAME} == set(manifest.listed(target))
    manifest.check(target, held, list(held.files))
    # The same shards are the same release, and a former one is replaced.
    code, again = run(monkeypatch, capsys, *command)
    assert (code, again["content"]) == (0, told["content"])
    (target / "mine.txt").write_text("notes")
    code, told = run(monkeypatch, capsys, *command)
    assert (code, "mine.txt is none of the release's files" in told["error"]) == (2, True)
    assert (target / "README.md").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("envs",), "called USER/NAME"),
        (("a/b--c",), "called USER/NAME"),
        (("a/b", "--shards", "9"), "no shard 9"),
        (("a/b", "--shards", "3"), "hold no environment"),
        (("a/b", "--release", "none"), "no release none"),
        (("a/b", "--release", "x", "--shards", "1"), "name the same thing"),
        (("a/b", "--tag", "a b"), "cannot be a tag"),
        (("a/b", "--tag", "main"), "cannot be a tag"),
        (("a/b", "--tag", "v1..2"), "cannot be a tag"),
        (("a/b", "--set", "publish.licence=Apache 2"), "as the Hub does"),
        (("a/b", "--set", "publish.benchmarks=['no.jsonl']"), "cannot be read"),
    ],
)
def test_what_cannot_be_released_is_one_line_and_writes_nothing(
    arguments: tuple[str, ...],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    home: Path,
    tmp_path: Path,
) -> None:
    target = tmp_path / "release"
    common = ("--home", home, "--dry-run", target)
    code, told = run(monkeypatch, capsys, "publish", *arguments, *common)
    assert (code, says in told["error"]) == (2, True), told
    assert not list(tmp_path.iterdir())


def test_a_folder_with_other_things_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path, tmp_path: Path
) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    command = ("publish", "a/b", "--home", home, "--dry-run", tmp_path)
    code, told = run(monkeypatch, capsys, *command)
    assert (code, "holds something else" in told["error"]) == (2, True)


def test_plays_are_a_seeded_sample_or_all_or_none(
    store: Store, corpus: CorpusConfig, tmp_path: Path
) -> None:
    def plays(name: str, **publish: Any) -> int:
        return make(tmp_path / name, store, corpus, publish=publish).manifest.rows("plays")

    assert plays("two") == 8
    assert plays("all", plays=-1) == 16
    assert plays("none", plays=0) == 0
    first, again, other = (
        make(tmp_path / name, store, corpus, publish={"plays": 1, "seed": seed}).manifest
        for name, seed in (("a", 0), ("b", 0), ("c", 7))
    )
    assert first.content == again.content != other.content
    text = (tmp_path / "none" / "README.md").read_text()
    assert "config_name: plays" not in text


def test_a_document_without_a_licence_stays_and_its_id_goes(
    store: Store, corpus: CorpusConfig, tmp_path: Path
) -> None:
    built = make(tmp_path / "none", store, corpus)
    assert built.manifest.rows("documents") == 0
    assert built.summary.documents_left == 1
    path = tmp_path / "licensed.jsonl"
    document = {"id": "barges", "text": "A barge.", "licence": "cc-by-4.0"}
    path.write_text(json.dumps(document) + "\n")
    built = make(tmp_path / "one", store, CorpusConfig(path=str(path)))
    assert built.manifest.rows("documents") == 1
    card = (tmp_path / "one" / "README.md").read_text()
    assert "1 cc-by-4.0" in card
    cache = str(tmp_path / "cache")
    found = datasets.load_dataset(str(tmp_path / "one"), cache_dir=cache, split="train")
    assert set(found["document_licence"]) == {"cc-by-4.0"}


@pytest.fixture
def leaky(records: list[EnvironmentRecord], certified: Any, tmp_path: Path) -> Store:
    """A store whose second shard has a secret in a hint."""
    seed, certificate = certified[1]
    secret = "hf_" + "Qw3rTy" * 6
    bad = environment(seed, certificate, 2, hint=f"Ask with {secret}.", id="f" * 20)
    fill(tmp_path / "leaky", [records[0], bad])
    return Store.open(tmp_path / "leaky")


def test_a_secret_refuses_by_design_and_place_unless_allowed(
    leaky: Store, corpus: CorpusConfig, records: list[EnvironmentRecord], tmp_path: Path
) -> None:
    with pytest.raises(BadInput) as refused:
        make(tmp_path / "a", leaky, corpus)
    line = str(refused.value)
    assert f"design {records[1].design}, hint: Hugging Face token hf_Q..." in line
    assert "Qw3rTy" not in line
    name = line.rpartition("--allow ")[2]
    built = make(tmp_path / "b", leaky, corpus, allowed={name})
    assert built.manifest.rows("environments") == 2
    assert make(tmp_path / "c", leaky, corpus, numbers=[1]).manifest.rows("environments") == 1


def test_paths_of_this_machine_are_told_in_the_card(
    store: Store, corpus: CorpusConfig, records: list[EnvironmentRecord], tmp_path: Path
) -> None:
    word = next(word for word in records[0].hint.split() if len(word) > 5)
    built = make(tmp_path / "a", store, corpus, machine=Machine({}, [word]))
    assert {one.kind for one in built.summary.findings} == {"path"}
    card = (tmp_path / "a" / "README.md").read_text()
    assert f"| path | {len(built.summary.findings)} |" in card
    assert "| secret | none |" in card


def test_an_environment_with_a_question_of_a_benchmark_stays(
    store: Store, corpus: CorpusConfig, records: list[EnvironmentRecord], tmp_path: Path
) -> None:
    path = tmp_path / "bench.jsonl"
    path.write_text(json.dumps({"question": records[0].source}) + "\n")
    publish = {"benchmarks": (str(path),)}
    built = make(tmp_path / "a", store, corpus, publish=publish)
    assert built.summary.held.keys() == {records[0].id}
    assert built.manifest.rows("environments") == 2
    card = (tmp_path / "a" / "README.md").read_text()
    assert "1 environment holds one and was left out" in card
    assert f"`{records[0].id}`: 100 % of bench.jsonl:1" in card
    told = {"benchmarks": (str(path),), "contaminated": "report"}
    assert make(tmp_path / "b", store, corpus, publish=told).manifest.rows("environments") == 3
    with pytest.raises(BadInput, match="all 1 environments hold questions"):
        make(tmp_path / "c", store, corpus, publish=publish, numbers=[1])


def test_the_card_is_made_from_the_data_and_takes_no_orders_from_it(
    records: list[EnvironmentRecord], corpus: CorpusConfig, tmp_path: Path
) -> None:
    title = 'Win | <script>alert("x")</script> [now](http://x) `a`\n# Big'
    hostile = dataclasses.replace(records[1], title=title)
    fill(tmp_path / "store", [records[0], hostile])
    with Store.open(tmp_path / "store") as store:
        make(tmp_path / "a", store, corpus)
    card = (tmp_path / "a" / "README.md").read_text()
    _, front, body = card.split("---\n", 2)
    told = yaml.safe_load(front)
    assert told["license"] == "apache-2.0"
    assert told["size_categories"] == ["n<1K"]
    assert [one["config_name"] for one in told["configs"]] == ["environments", "plays"]
    assert "<script>" not in body
    assert "[now](" not in body
    assert "\n# Big" not in body
    assert r"Win \| \<script\>" in body
    assert 'load_dataset("tester/envs", revision="v1.0.0", split="train")' in body
    assert "| solvable | 3 | 2 |" in body  # of five designs three were refused
    for name in ("skills", "returns", "turns"):
        data = (tmp_path / "a" / "plots" / f"{name}.png").read_bytes()
        assert data.startswith(b"\x89PNG")
        assert f"(plots/{name}.png)" in body


def test_nothing_in_a_release_names_this_machine(
    store: Store, corpus: CorpusConfig, tmp_path: Path
) -> None:
    make(tmp_path / "a", store, corpus)
    for path in (tmp_path / "a").rglob("*"):
        if path.is_file():
            assert str(tmp_path).encode() not in path.read_bytes()
            assert str(Path(__file__).parents[3]).encode() not in path.read_bytes()


def test_a_damaged_release_is_not_taken(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    store: Store,
    corpus: CorpusConfig,
    tmp_path: Path,
) -> None:
    make(tmp_path / "a", store, corpus)
    table = "environments/shard-000002.parquet"
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    shutil.copy(tmp_path / "a" / "environments/shard-000001.parquet", tmp_path / "b" / table)
    code, told = run(monkeypatch, capsys, "import", tmp_path / "b", "--home", tmp_path / "home")
    assert (code, "SHA-256 differs" in told["error"]) == (2, True)
    body = json.loads((tmp_path / "b" / manifest.NAME).read_text())
    body["files"][table]["sha256"] = manifest.file_sha256(tmp_path / "b" / table)
    (tmp_path / "b" / manifest.NAME).write_text(json.dumps(body))
    code, told = run(monkeypatch, capsys, "import", tmp_path / "b", "--home", tmp_path / "home")
    assert (code, "digest does not match" in told["error"]) == (2, True)


def test_a_release_comes_back_with_the_same_ids_and_certificates(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    store: Store,
    corpus: CorpusConfig,
    records: list[EnvironmentRecord],
    tmp_path: Path,
) -> None:
    make(tmp_path / "a", store, corpus)
    for name, options in (("trusted", ()), ("again", ("--recheck",))):
        home = tmp_path / name
        code, told = run(monkeypatch, capsys, "import", tmp_path / "a", "--home", home, *options)
        assert (code, told["admitted"]) == (0, 3), told
        with Store.open(home / "store") as other:
            back = {one.id: one for one in other.environments()}
        assert back.keys() == {one.id for one in records}
        for one in records:
            found = back[one.id]
            assert found.fingerprint == one.fingerprint
            assert (found.parents, found.document) == (one.parents, one.document)
            same = found.certificate == one.certificate
            assert same or name == "again"  # certified anew, it took other seconds
