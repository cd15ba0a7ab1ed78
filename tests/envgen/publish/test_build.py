"""A release in a folder: what it holds, what it refuses, and the command that writes it."""

import dataclasses
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest
import yaml

import spadework
from envgen.cli_publish import _write
from envgen.corpus import CorpusConfig
from envgen.publish import manifest
from envgen.publish.build import Built
from envgen.publish.scan import Machine
from memory import EnvironmentRecord, Store
from sandbox import EnvironmentFault, Sandbox, SandboxFault
from spadekit.errors import BadInput

from .conftest import design, environment, fill, make


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
        (("a/b", "--shards", "1..12"), "no shard 4"),
        (("a/b", "--shards", ""), "no list of shards"),
        (("a/b", "--shards", "3..1"), "the low end comes first"),
        (("a/b", "--release", ""), "no name for a release"),
        (("a/b", "--tag", ""), "cannot be a tag"),
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


def test_only_a_folder_that_cannot_be_written_is_told_as_one(tmp_path: Path) -> None:
    def broken(_: Path) -> Built:
        raise OSError("the store is gone")

    with pytest.raises(OSError, match="the store is gone"):
        _write(tmp_path / "release", broken)
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="file/release cannot be written"):
        _write(tmp_path / "file" / "release", broken)


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
def leaky(records: list[EnvironmentRecord], certified: Any, tmp_path: Path) -> Path:
    """A home whose second shard has secrets in the hints of two environments."""
    bad = [
        environment(*one, 2, hint=f"Ask {secret}.", id=letter * 20)
        for one, letter, secret in zip(
            certified[1:], "ef", ("hf_" + "Qw3rTy" * 6, "sk-" + "Zx9cVb" * 6), strict=True
        )
    ]
    fill(tmp_path / "leaky" / "store", [records[0], *bad])
    return tmp_path / "leaky"


def test_all_that_is_in_the_way_is_told_and_nothing_is_written_unless_allowed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    leaky: Path,
    tmp_path: Path,
) -> None:
    target = tmp_path / "release"
    command = ("publish", "a/b", "--home", leaky, "--set", "publish.benchmarks=[]")
    dry = (*command, "--dry-run", target)
    code, told = run(monkeypatch, capsys, *dry)
    assert (code, told["blocked"], told["environments"]) == (2, True, 3)
    assert "2 findings in the way" in told["error"]
    stop = [one for one in told["findings"] if one["blocks"]]
    assert [(one["owner"], one["place"], one["file"]) for one in stop] == [
        (f"environment {letter * 20}", "hint", "environments/shard-000002.parquet")
        for letter in "ef"
    ]
    assert [one["excerpt"] for one in stop] == ["Ask hf_Q...", "Ask sk-Z..."]
    assert "Qw3rTy" not in json.dumps(told)
    # Without --dry-run it ends before anybody is asked, and with one allowed the other is left.
    first, second = (one["id"] for one in stop)
    code, told = run(monkeypatch, capsys, *command, "--allow", first)
    assert (code, [one["id"] for one in told["findings"] if one["blocks"]]) == (2, [second])
    assert not target.exists()
    assert [one.name for one in tmp_path.iterdir()] == ["leaky"]
    code, told = run(monkeypatch, capsys, *dry, "--allow", first, "--allow", second)
    assert (code, told["blocked"], told["environments"]) == (0, False, 3)
    # A former release stays as it is when its successor is in the way.
    before = (target / manifest.NAME).read_bytes()
    assert run(monkeypatch, capsys, *dry)[0] == 2
    assert (target / manifest.NAME).read_bytes() == before
    code, told = run(monkeypatch, capsys, *dry, "--shards", "1")
    assert (code, told["environments"]) == (0, 1)


def test_people_get_a_table_of_what_is_in_the_way(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    leaky: Path,
    tmp_path: Path,
) -> None:
    command = ["publish", "a/b", "--home", str(leaky), "--dry-run", str(tmp_path / "release")]
    monkeypatch.setattr(sys, "argv", ["spadework", *command, "--set", "publish.benchmarks=[]"])
    with pytest.raises(SystemExit) as ended:
        spadework.main()
    printed = capsys.readouterr()
    assert ended.value.code == 2
    for word in ("what is in the way", "e" * 20, "f" * 20, "Ask hf_Q...", "Ask sk-Z..."):
        assert word in printed.out
    assert "error: 2 findings in the way" in printed.err


def test_the_same_store_gives_the_same_bytes(
    store: Store, corpus: CorpusConfig, tmp_path: Path
) -> None:
    one = make(tmp_path / "a", store, corpus, parallel=1).manifest
    other = make(tmp_path / "b", store, corpus, parallel=3).manifest
    assert one == other
    assert manifest.read(tmp_path / "a").files.keys() == other.files.keys()


def test_a_solution_that_faults_is_tried_again_and_then_its_environment_is_left_out(
    store: Store, corpus: CorpusConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []
    play = Sandbox.open

    async def broken(self: Sandbox, source: str, *rest: Any, **more: Any) -> Any:
        if source == bad:
            tries.append(source)
            if len(tries) <= fail:
                raise EnvironmentFault("solution", "raised", "hf_" + "x" * 40)
        return await play(self, source, *rest, **more)

    monkeypatch.setattr(Sandbox, "open", broken)
    first, *_ = store.environments()
    bad, fail = first.source, 2
    whole = make(tmp_path / "a", store, corpus, parallel=1)
    assert (len(tries), whole.manifest.rows("environments")) == (3, 3)
    assert "What was left out" not in (tmp_path / "a/README.md").read_text()
    tries.clear()
    fail = 9
    made = make(tmp_path / "b", store, corpus, parallel=1)
    assert len(tries) == 3
    assert made.summary.unplayed == {first.id: "solution: raised"}
    table = pq.read_table(tmp_path / "b/environments/shard-000002.parquet")
    assert made.manifest.rows("environments") == 2 == table.num_rows
    card = (tmp_path / "b/README.md").read_text()
    assert "The certified solution of 1 environment did not play again as certified" in card
    assert f"- `{first.id}`: solution: raised" in card
    tries.clear()
    with pytest.raises(BadInput, match=rf"solutions of 1 do not play .*{first.id}: solution"):
        make(tmp_path / "c", store, corpus, numbers=[1], parallel=1)


def test_a_sandbox_that_does_not_work_is_ours_and_leaves_nothing_out(
    store: Store, corpus: CorpusConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise SandboxFault("no layer")

    monkeypatch.setattr(Sandbox, "open", broken)
    with pytest.raises(SandboxFault, match="no layer"):
        make(tmp_path / "a", store, corpus, numbers=[1])


def test_a_solution_that_ends_otherwise_than_certified_is_left_out_and_told(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    records: list[EnvironmentRecord],
    tmp_path: Path,
) -> None:
    certificate = json.loads(records[0].certificate)
    certificate["turns"][0] += 1
    other = dataclasses.replace(records[0], certificate=json.dumps(certificate))
    fill(tmp_path / "store", [other, *records[1:]])
    command = ["publish", "a/b", "--home", str(tmp_path), "--dry-run", str(tmp_path / "release")]
    code, told = run(monkeypatch, capsys, *command, "--set", "publish.benchmarks=[]")
    assert (code, told["environments"]) == (0, 2), told
    assert told["unplayed"].keys() == {other.id}
    assert "was certified" in told["unplayed"][other.id]


def test_the_card_counts_hints_and_solutions_and_what_was_designed(
    records: list[EnvironmentRecord], corpus: CorpusConfig, tmp_path: Path
) -> None:
    def told(name: str, some: list[EnvironmentRecord]) -> str:
        fill(tmp_path / name / "store", some)
        with Store.open(tmp_path / name / "store") as opened:
            make(tmp_path / name / "release", opened, corpus)
        return (tmp_path / name / "release/README.md").read_text()

    bare = json.loads(records[2].certificate)
    for check in bare["checks"]:
        if check["name"] == "solvable":
            check["verdict"] = "skip"
    some = [
        records[0],
        dataclasses.replace(records[1], hint="", id="a" * 20),
        dataclasses.replace(records[2], hint="", id="b" * 20, certificate=json.dumps(bare)),
    ]
    card = told("some", some)
    assert "1 of them has a\nprivileged hint" in card
    assert "2 of them have a play of the reference solution" in card
    assert "All have a\nprivileged hint for the player, all have a play" in told("all", records)
    assert "designed by policy version 3." in card


def test_a_document_whose_id_stands_for_several_texts_stays(
    store: Store, records: list[EnvironmentRecord], tmp_path: Path
) -> None:
    assert {one.setting for one in records} == {"game", "tool_use"}

    def built(name: str, games: list[str], tools: list[str]) -> Built:
        for folder, texts in (("games", games), ("tools", tools)):
            rows = [{"id": "barges", "text": text, "licence": "CC0-1.0"} for text in texts]
            path = tmp_path / f"{name}-{folder}.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        config = CorpusConfig(
            path=str(tmp_path / f"{name}-games.jsonl"),
            tools_path=str(tmp_path / f"{name}-tools.jsonl"),
        )
        return make(tmp_path / name, store, config)

    same = built("same", ["A barge."], ["A barge."])
    assert (same.manifest.rows("documents"), same.summary.documents_left) == (1, 0)
    for name, games, tools in (
        ("shelves", ["A barge."], ["A boat."]),
        ("twice", ["A barge.", "A boat."], ["A barge."]),
    ):
        made = built(name, games, tools)
        assert made.manifest.rows("documents") == 0
        assert (made.summary.documents_left, made.summary.documents_ambiguous) == (1, 1)
        card = (tmp_path / name / "README.md").read_text()
        assert "The id of 1 of them stands for several texts" in card


def imported(
    root: Path, records: list[EnvironmentRecord], uri: str, place: str, **more: Any
) -> Store:
    """A store with one shard that was imported."""
    brief = json.dumps({"origin": "import", "uri": uri, "place": place, **more})
    designs = [dataclasses.replace(design(one, 1), brief=brief) for one in records]
    store = Store.open(root, create=True)
    store.publish(
        1, [dataclasses.replace(one, shard=1) for one in records], designs, [], [], meta={}
    )
    return store


def test_an_imported_environment_was_not_written_about_a_document_of_this_corpus(
    records: list[EnvironmentRecord], tmp_path: Path
) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps({"id": "barges", "text": "A barge.", "licence": "CC0-1.0"}) + "\n")
    with imported(tmp_path / "s", records, "hf://a/b@" + "0" * 40, "x.parquet:1") as store:
        made = make(tmp_path / "a", store, CorpusConfig(path=str(path)))
    assert made.manifest.rows("documents") == 0
    assert made.summary.documents_left == 1


def test_where_imported_environments_come_from_is_told_but_no_path_of_a_machine(
    records: list[EnvironmentRecord], corpus: CorpusConfig, tmp_path: Path
) -> None:
    address = "hf://ann/worlds@" + "0" * 40
    for name, uri, shown in (("a", address, address), ("b", "/srv/pools/mine", "")):
        with imported(tmp_path / f"store-{name}", records, uri, f"{uri}/x.parquet:1") as store:
            make(tmp_path / name, store, corpus)
        table = pq.read_table(tmp_path / name / "environments/shard-000001.parquet")
        assert set(table["origin"].to_pylist()) == {shown}
        card = (tmp_path / name / "README.md").read_text()
        assert "0 were designed here; 3 were imported" in card
        assert f"| {shown or 'files of whoever published this'} | 3 |" in card
        assert "designed by policy version" not in card
        assert b"/srv/pools" not in card.encode()
        assert "/srv/pools" not in str(table.to_pylist())


TASK = {"uri": "rlve-gym", "place": "rlve-gym:Division"}


@pytest.mark.parametrize(
    "brief",
    [TASK, {"uri": "hf://ann/worlds@" + "0" * 40, "place": "x.parquet:1", "first": TASK}],
    ids=["imported", "imported from a release that had imported it"],
)
def test_a_task_of_a_benchmarks_own_package_is_left_out_by_its_name(
    brief: dict[str, Any], records: list[EnvironmentRecord], corpus: CorpusConfig, tmp_path: Path
) -> None:
    with imported(tmp_path / "s", records, **brief) as store:
        publish = {"benchmarks": ("rlve-gym",)}
        with pytest.raises(
            BadInput, match="all environments are left out: 3 hold .*rlve-gym:Division"
        ):
            make(tmp_path / "a", store, corpus, publish=publish)
        made = make(tmp_path / "b", store, corpus, publish=publish | {"contaminated": "report"})
    card = (tmp_path / "b" / "README.md").read_text()
    assert {one.question for one in made.summary.held.values()} == {"rlve-gym:Division"}
    assert "100 % of rlve-gym:Division" in card
    assert "| rlve-gym | 3 |" in card
    table = pq.read_table(tmp_path / "b/environments/shard-000001.parquet")
    told = set(zip(*(table[name].to_pylist() for name in ("origin", "origin_place")), strict=True))
    assert told == {("rlve-gym", "rlve-gym:Division")}


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
    with pytest.raises(BadInput, match="left out: 1 hold questions"):
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
    assert (code, table in told["error"]) == (2, True), told
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
    for name, options in (("trusted", ("--trust",)), ("again", ())):
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
            # Certified anew it took other seconds, and the facts are the same: the first one stays.
            assert found.certificate == one.certificate
