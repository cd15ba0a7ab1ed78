"""Releases as pools: what strangers say in them is checked, and certified again unless it is believed."""

import asyncio
import dataclasses
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import spadework
from envgen.certificate import Certificate, Terms, certify, code_digest
from envgen.certificate.record import CHECKS, Check
from envgen.hub import is_commit
from envgen.pools import hub, open_pool, released, vouched, work
from envgen.pools.candidate import Candidate, Unusable
from envgen.pools.hub import DataSet
from envgen.pools.limits import Limits
from envgen.publish import manifest
from envgen.publish.rows import ENVIRONMENTS, Solution, environment_row, sha256
from envgen.registry import load_environments
from envgen.seeds import load
from memory import EnvironmentRecord, Store, environment_id
from memory.diversity import tree_digest
from memory.shards import digest_of
from sandbox import Sandbox
from solver.config import SolverConfig
from spadekit.errors import BadInput

FLAWED = Path(__file__).parents[1] / "corpora" / "flawed" / "seeded__ignores_seed.py"
LIMITS = Limits(65_536)
Row = dict[str, Any]


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    """The certificate of the seed ``beads``, as a home of the default recipe certifies."""

    async def main() -> Certificate:
        async with Sandbox() as sandbox:
            terms = Terms(SolverConfig().max_turns)
            return await certify(BEADS.source, BEADS.hint, sandbox, terms=terms)

    return asyncio.run(main())


BEADS = next(seed for seed in load() if seed.name == "beads")


def row_of(certificate: Certificate, source: str = "", **changes: Any) -> Row:
    """The row of a release; ``source`` is another program that the certificate is made to be about."""
    text = source or BEADS.source
    identity = environment_id("game", text, BEADS.hint)
    certificate = dataclasses.replace(certificate, environment=identity)
    record = EnvironmentRecord(
        id=identity,
        shard=1,
        setting="game",
        skills=BEADS.skills,
        title=certificate.title,
        description=certificate.description,
        source=text,
        hint=BEADS.hint,
        tools="",
        difficulty=BEADS.difficulty,
        certificate=certificate.as_json(),
        policy_version=3,
        parents=("0" * 20,),
        document="barges",
        design="d",
        digest=tree_digest(text),
        fingerprint=certificate.fingerprint,
        isolation=certificate.isolation,
        decision="{}",
    )
    return environment_row(record, None, Solution(), "") | changes


def certified(row: Row, **changes: Any) -> Row:
    """The row with a certificate of other values, its sum made to fit."""
    text = json.dumps(json.loads(row["certificate"]) | changes)
    return row | {"certificate": text, "certificate_sha256": sha256(text)}


def release(folder: Path, rows: Sequence[Row], schema: pa.Schema = ENVIRONMENTS) -> Path:
    """Write a release whose table may hold anything."""
    schema = pa.schema([pa.field(field.name, field.type) for field in schema])
    (folder / "environments").mkdir(parents=True)
    path = folder / "environments" / "shard-000001.parquet"
    columns = [
        pa.array([row[name] for row in rows], schema.field(name).type) for name in schema.names
    ]
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), path)
    sums(folder, {"environments/shard-000001.parquet": len(rows)})
    return folder


def sums(folder: Path, rows: dict[str, int]) -> None:
    manifest.write(
        folder,
        tag="v1",
        content="c",
        version="9",
        created="",
        shards={1: "0" * 64},
        checks=code_digest(),
        rows=rows,
    )


def rewrite(folder: Path, change: Callable[[Any], Any]) -> None:
    """Change a manifest, and let its digest fit."""
    body = json.loads((folder / manifest.NAME).read_text())
    del body["digest"]
    change(body)
    (folder / manifest.NAME).write_text(json.dumps(body | {"digest": digest_of(body)}))


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> tuple[int, Any, str]:
    """Run a command with ``--json``; return its exit code, what it printed, and its notes."""
    monkeypatch.setattr(sys, "argv", ["spadework", *map(str, arguments), "--json"])
    with pytest.raises(SystemExit) as ended:
        spadework.main()
    captured = capsys.readouterr()
    return int(ended.value.code or 0), json.loads(captured.out), captured.err


def test_a_release_is_certified_again_unless_it_is_believed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    certificate: Certificate,
    tmp_path: Path,
) -> None:
    # Another fingerprint, or the liar would be a duplicate of the honest one.
    lie = dataclasses.replace(certificate, fingerprint="0" * 64)
    honest, liar = row_of(certificate), row_of(lie, FLAWED.read_text())
    folder = release(tmp_path / "release", [honest, liar])
    home = tmp_path / "home"
    code, told, notes = run(monkeypatch, capsys, "import", folder, "--home", home)
    assert code == 0, told
    assert (told["admitted"], told["refused"]) == (1, 1)
    assert told["certificates"] == {"made": 0, "confirmed": 1, "believed": 0}
    assert told["candidates"][1]["stage"] == "seeded"
    assert "believed" not in notes
    with Store.open(home / "store") as store:
        [kept] = store.environments()
        # Made again and found the same, it stays as it came: the same to the digest.
        assert sha256(kept.certificate) == honest["certificate_sha256"]
        assert (kept.id, kept.parents, kept.document) == (honest["id"], ("0" * 20,), "barges")
        assert store.search("a string of beads", limit=1)[0].environment.id == honest["id"]
        head = store.shards()[0]
        assert head.meta["release"] == {"tag": "v1", "content": "c"}
        assert head.meta["certificates"]["confirmed"] == 1
    # What is known is not certified again, and the counts say so.
    [journal] = (home / "runs").rglob("imports/*.jsonl")
    before = journal.read_bytes()
    code, told, _ = run(monkeypatch, capsys, "import", folder, "--home", home, "--recheck")
    assert (code, told["known"], told["refused"], told["shard"]) == (0, 1, 1, None)
    assert journal.read_bytes() == before

    other = tmp_path / "other"
    code, told, notes = run(monkeypatch, capsys, "import", folder, "--home", other, "--trust")
    assert (code, told["admitted"]) == (0, 2)
    assert told["certificates"] == {"made": 0, "confirmed": 0, "believed": 2}
    assert "the certificates of release v1 are believed, not made again" in notes
    assert len(notes.strip().splitlines()) == 1
    assert not any(path.read_bytes() for path in (other / "runs").rglob("imports/*.jsonl"))
    for where, word in ((home, "confirmed"), (other, "believed")):
        code, told, _ = run(monkeypatch, capsys, "show", honest["id"], "--home", where)
        place = f"environments/shard-000001.parquet:1 ({honest['id']})"
        origin = {"uri": "file:release", "place": place, "release": "v1", "certificate": word}
        assert (code, told["origin"]) == (0, origin)

    # What was believed is certified by an import that believes nothing, and only once.
    code, told, _ = run(monkeypatch, capsys, "import", folder, "--home", other)
    assert (code, told["admitted"], told["refused"], told["shard"]) == (0, 1, 1, 2)
    assert told["certificates"] == {"made": 0, "confirmed": 1, "believed": 0}
    assert f"(in the memory, unchecked, as {liar['id']})" in told["candidates"][1]["detail"]
    with Store.open(other / "store") as store:
        assert store.verify() == []
        assert {one.id for one in store.environments()} == {honest["id"], liar["id"]}
        [again] = store.shard(2).environments
        assert (again.id, sha256(again.certificate)) == (honest["id"], honest["certificate_sha256"])
    for identity, word in ((honest["id"], "confirmed"), (liar["id"], "believed")):
        _, told, _ = run(monkeypatch, capsys, "show", identity, "--home", other)
        assert told["origin"]["certificate"] == word
    code, told, _ = run(monkeypatch, capsys, "import", folder, "--home", other)
    assert (code, told["known"], told["refused"], told["shard"]) == (0, 1, 1, None)


def test_a_program_that_is_not_what_its_release_says_is_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    certificate: Certificate,
    tmp_path: Path,
) -> None:
    identity = environment_id("tool_use", BEADS.source, BEADS.hint)
    row = row_of(certificate, setting="tool_use", id=identity)
    row = certified(row, setting="tool_use", environment=identity)
    folder = release(tmp_path / "release", [row])
    code, told, _ = run(monkeypatch, capsys, "import", folder, "--home", tmp_path / "home")
    assert (code, told["refused"], told["shard"]) == (1, 1, None)
    [one] = told["candidates"]
    assert (one["stage"], one["reason"]) == ("certificate", "other")
    assert "calls it tool_use; it is game" in one["detail"]


def test_trust_is_for_releases(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BEADS.source)
    with pytest.raises(BadInput, match="--trust is for releases"):
        open_pool(str(tmp_path), LIMITS, believed=True)


def test_every_value_of_a_strangers_row_is_checked(
    certificate: Certificate, tmp_path: Path
) -> None:
    good = row_of(certificate)
    wrong: list[tuple[Row, str]] = [
        (good | {"id": None}, "column `id` holds nothing"),
        (good | {"id": "\x1b[2J" + "0" * 16}, "column `id` holds \ufffd[2J"),
        (good | {"setting": "shell"}, "column `setting` holds shell, not game or tool_use"),
        (good | {"skills": None}, "column `skills` holds nothing, not a list"),
        (good | {"skills": [None]}, "column `skills` holds nothing, not text"),
        (good | {"skills": ["x"] * 65}, "column `skills` has 65 entries; at most 64"),
        (good | {"difficulty": -1}, "column `difficulty` holds -1, not a number from 0 to 5"),
        (good | {"difficulty": None}, "column `difficulty` holds nothing"),
        (good | {"source": None}, "column `source` holds nothing, not text"),
        (good | {"hint": None}, "column `hint` holds nothing, not text"),
        (good | {"hint": "x" * 65_537}, "column `hint` has 65537 characters; at most 65536"),
        (good | {"certificate": None}, "column `certificate` holds nothing, not text"),
        (good | {"certificate": "[" * 1_000_001}, "column `certificate` has 1000001 characters"),
        (good | {"certificate_sha256": "0"}, "column `certificate_sha256` holds 0, not a SHA-256"),
        (good | {"parents": ["a\nb"]}, "column `parents` cannot be printed"),
        (good | {"document": "x" * 301}, "column `document` has 301 characters; at most 300"),
        (good | {"origin": None}, "column `origin` holds nothing, not text"),
        (good | {"origin_place": "x" * 5_001}, "column `origin_place` has 5001 characters"),
        (good | {"source": BEADS.source + "#"}, "its id is not that of its program"),
        (good | {"certificate_sha256": "0" * 64}, "the SHA-256 of its certificate differs"),
    ]
    # What is measured stays in the release: nothing of it is read, be it as it may.
    figures = {"regret": float("nan"), "return_hinted": float("inf"), "plays_hinted": -5}
    rows = [good | figures, *(row for row, _ in wrong), good]
    folder = release(tmp_path / "r", rows)
    found = list(open_pool(str(folder), LIMITS).read())
    assert isinstance(found[0], Candidate) and isinstance(found[-1], Candidate)
    for number, (one, (_, says)) in enumerate(zip(found[1:-1], wrong, strict=True), 2):
        assert isinstance(one, Unusable)
        assert one.place.startswith(f"environments/shard-000001.parquet:{number}")
        assert says in one.detail
        assert one.detail.isprintable() and one.place.isprintable()
    with pytest.raises(BadInput, match=r"shard-000001\.parquet:2: column `id` holds nothing"):
        load_environments(folder)


def test_a_certificate_of_another_program_is_refused(
    certificate: Certificate, tmp_path: Path
) -> None:
    good = row_of(certificate)
    other = row_of(certificate, BEADS.source + "# more\n")
    swapped = good | {name: other[name] for name in ("certificate", "certificate_sha256")}
    old = json.loads(good["certificate"])
    del old["environment"], old["code"]
    text = json.dumps(old)
    unsaid = good | {"certificate": text, "certificate_sha256": sha256(text)}
    folder = release(tmp_path / "r", [swapped, unsaid, certified(good, accepted=False)])
    one, two, three = open_pool(str(folder), LIMITS).read()
    assert isinstance(one, Unusable) and isinstance(three, Unusable)
    assert one.detail == f"its certificate: it is of another program, {other['id']}"
    assert "that the program was refused" in three.detail
    # Made before certificates said so, it is good enough to be made again and not to be believed.
    assert isinstance(two, Candidate)
    _, two, _ = open_pool(str(folder), LIMITS, believed=True).read()
    assert isinstance(two, Unusable) and "import without --trust" in two.detail


def said(name: str, **evidence: Any) -> Row:
    return {"name": name, "verdict": "pass", "message": "", "evidence": evidence}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"title": "Beads\x1b]0;owned\x07"}, "title"),
        ({"title": 7}, "title"),
        ({"class_name": "A B"}, "class name"),
        ({"description": "\ud800"}, "surrogates"),
        ({"setting": "shell"}, "unexpected values"),
        ({"tools": [{"name": "x"}]}, "not a function's schema"),
        ({"seconds": -1.0}, "`seconds`"),
        ({"seconds": float("nan")}, "NaN is no number"),
        ({"seconds": float("inf")}, "Infinity is no number"),
        ({"seeds": [1, None]}, "`seeds`"),
        ({"turns": [-1]}, "`turns`"),
        ({"turns": [10**30]}, "out of range"),
        ({"turns": [10**400]}, "out of range"),
        ({"fingerprint": "x"}, "`fingerprint`"),
        ({"isolation": "none"}, "`isolation`"),
        ({"accepted": 1}, "`accepted`"),
        ({"environment": "x"}, "`environment`"),
        ({"code": "x"}, "`code`"),
        ({"more": 1}, "not the fields"),
        ({"checks": [{"name": "source"}]}, "`checks`"),
        ({"checks": None}, "`checks`"),
        ({"checks": [said(name) for name in CHECKS[::-1]]}, "`checks`"),
        ({"checks": [said("solvable"), said("solvable")]}, "`checks`"),
        ({"checks": [said("solvable", returns=["1"])]}, "returns"),
        ({"checks": [said("nontrivial", echo={"wins": -1})]}, "counts"),
    ],
)
def test_a_certificate_that_says_what_none_says_is_none(
    certificate: Certificate, changes: Row, says: str
) -> None:
    values = json.loads(certificate.as_json())
    assert vouched.read(json.dumps(values)) == certificate
    with pytest.raises(ValueError, match=says):
        vouched.read(json.dumps(values | changes))


@pytest.mark.parametrize("text", ["", "[" * 100_000, "null", "{}", '{"accepted": 1e999}'])
def test_what_is_no_certificate_at_all_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        vouched.read(text)


def test_facts_are_what_the_clock_does_not_change(certificate: Certificate) -> None:
    def with_evidence(**changes: Any) -> Certificate:
        last = certificate.checks[-1]
        check = Check(last.name, last.verdict, last.message, last.evidence | changes)
        return dataclasses.replace(certificate, checks=(*certificate.checks[:-1], check))

    slow = dataclasses.replace(with_evidence(slowest_step_s=9.0), seconds=99.0)
    assert slow.facts() == certificate.facts()
    assert Certificate.from_json(certificate.as_json()).facts() == certificate.facts()
    assert with_evidence(longest=99).facts() != certificate.facts()
    assert dataclasses.replace(certificate, environment="").facts() != certificate.facts()


def test_a_certificate_says_what_it_is_of_and_what_made_it(certificate: Certificate) -> None:
    assert certificate.environment == environment_id("game", BEADS.source, BEADS.hint)
    assert certificate.code == code_digest()


def test_a_table_of_other_columns_names_file_and_column(
    certificate: Certificate, tmp_path: Path
) -> None:
    row = row_of(certificate)
    number = ENVIRONMENTS.get_field_index("difficulty")
    text = ENVIRONMENTS.set(number, pa.field("difficulty", pa.string()))
    for name, schema, says in (
        ("type", text, "shard-000001.parquet: column `difficulty` is string, not int32"),
        ("lack", ENVIRONMENTS.remove(number), "column `difficulty` is not there, not int32"),
    ):
        folder = release(
            tmp_path / name, [row | {"difficulty": "5"}] if name == "type" else [row], schema
        )
        with pytest.raises(BadInput, match=says):
            list(open_pool(str(folder), LIMITS).read())


def test_a_file_that_is_not_the_manifests_is_refused_unread(
    certificate: Certificate, tmp_path: Path
) -> None:
    folder = release(tmp_path / "r", [row_of(certificate)])
    table = folder / "environments" / "shard-000001.parquet"
    whole = (folder / manifest.NAME).read_text()

    def says(match: str, limits: Limits = LIMITS) -> None:
        with pytest.raises(BadInput, match=match) as refused:
            list(open_pool(str(folder), limits).read())
        assert len(str(refused.value).splitlines()) == 1
        (folder / manifest.NAME).write_text(whole)

    name = "environments/shard-000001.parquet"
    rewrite(folder, lambda body: body["files"][name].update(rows=7))
    says("1 rows; its manifest says 7")
    rewrite(folder, lambda body: body["files"][name].update(rows=10**12))
    says("sum, size or rows of .* are none")
    rewrite(folder, lambda body: body["files"][name].update(bytes="9"))
    says("sum, size or rows of .* are none")
    rewrite(folder, lambda body: body["files"][name].update(sha256="0" * 64))
    says("SHA-256 differs")
    rewrite(folder, lambda body: body["files"][name].update(bytes=9))
    says("SHA-256 differs.* not 9")
    rewrite(
        folder, lambda body: body["files"].update({"environments/../../x": body["files"][name]})
    )
    says("which no release holds")
    rewrite(
        folder, lambda body: body["files"].update({"environments/b.parquet": body["files"][name]})
    )
    says("b.parquet: in the manifest and not there")
    rewrite(folder, lambda body: body.update(tag="v\x1b[2J"))
    says("its tag is no name")
    rewrite(folder, lambda body: body.update(schema=99))
    says(r"written by a newer version \(schema 99\); upgrade spadework")
    says("files of .* MB .* --most-mb allows more", Limits(65_536, 1_000))
    table.unlink()
    table.symlink_to("/dev/zero")
    says("not a regular file")


def test_a_release_whose_manifest_is_damaged_is_no_ordinary_pool(
    certificate: Certificate, tmp_path: Path
) -> None:
    folder = release(tmp_path / "r", [row_of(certificate)])
    path = folder / manifest.NAME
    file = {"sha256": "0" * 64, "bytes": 1, "rows": 1}
    many = {f"environments/{number}.parquet": file for number in range(50_000)}
    rewrite(folder, lambda body: body["files"].update(many))
    size = path.stat().st_size
    for text, says in (
        (None, f"manifest.json: {size} bytes; the manifest of a release has at most 4000000"),
        (b"{", "manifest.json: not JSON, so no manifest of a release: fetch it again"),
        (b"\xff", "not JSON"),
        (b"[" * 100_000, "not JSON"),
    ):
        if text is not None:
            path.write_bytes(text)
        for opened in (lambda: open_pool(str(folder), LIMITS), lambda: load_environments(folder)):
            with pytest.raises(BadInput, match=says) as refused:
                opened()
            assert len(str(refused.value).splitlines()) == 1
    # JSON of somebody else is that; and without such tables so is whatever bears the name.
    path.write_text('{"kind": "web extension"}')
    assert released.in_folder(folder, "x") is None
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / manifest.NAME).write_bytes(b"\0" * 5_000_000)
    assert released.in_folder(tmp_path / "other", "x") is None


def test_a_commit_has_forty_digits_and_anything_else_is_a_name(
    certificate: Certificate, tmp_path: Path
) -> None:
    assert is_commit("0123456789" * 4)
    assert not any(map(is_commit, ("deadbeef", "0" * 39, "0" * 41, "A" * 40, "", "v1")))
    assert released.tag_of("hf://a/b@deadbeef") == "deadbeef"
    assert released.tag_of("hf://a/b@" + "0" * 40) == released.tag_of("hf://a/b@main") == ""
    for spelt in ("hf://a/b@v1", "hf://datasets/a/b@v1"):
        assert released.tagged(spelt) == "hf://a/b@v1"
    assert released.tagged("hf://a/b@main") == released.tagged("hf://a/b") == ""
    folder = release(tmp_path / "r", [row_of(certificate)])
    with pytest.raises(BadInput, match="`20240101` holds the release `v1`: .* it was moved"):
        released.in_folder(folder, "hf://a/b@" + "0" * 40, "hf://a/b@20240101")


def test_a_folder_is_spelt_as_one_and_its_revision_is_its_tag(
    monkeypatch: pytest.MonkeyPatch, certificate: Certificate, tmp_path: Path
) -> None:
    row = row_of(certificate)
    release(tmp_path / "user" / "name", [row])
    monkeypatch.chdir(tmp_path)
    names = [f"spadework/{row['id']}-v0"]
    for spelt in ("./user/name", str(tmp_path / "user" / "name"), Path("user/name")):
        assert load_environments(spelt, revision="v1") == names
    with pytest.raises(BadInput, match="this is release v1, not v2"):
        load_environments("./user/name", revision="v2")
    with pytest.raises(BadInput, match=r"no release of Spadework lies there; .*USER/NAME"):
        load_environments("./user")


def test_a_tag_that_moved_is_the_same_tag_however_it_is_spelt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = "0" * 40, "1" * 40
    meta = {"asked": "hf://datasets/Ann/Worlds@v1", "uri": f"hf://Ann/Worlds@{first}"}
    with Store.open(tmp_path / "store", create=True) as store:
        store.publish(1, [], [], [], [], meta=meta)
        for name, tag, commit, moved in (
            ("ann/worlds", "v1", second, True),
            ("datasets/ann/worlds", "v1", second, True),
            ("ann/worlds", "v1", first, False),
            ("ann/worlds", "V1", second, False),
            ("ann/others", "v1", second, False),
            ("ann/worlds", second, second, False),
        ):
            data = DataSet(name.removeprefix("datasets/"), commit, {"rows.jsonl": 1})
            monkeypatch.setattr(hub, "find", lambda _, data=data: data)
            # No release lies there any more: whoever moved the tag may have left its manifest out.
            pool = open_pool(f"hf://{name}@{tag}", LIMITS)
            with pytest.raises(BadInput, match="moved") if moved else nullcontext():
                work._check_tag(pool, store)


def test_a_release_is_compared_with_the_store_as_this_home_compares(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    certificate: Certificate,
    tmp_path: Path,
) -> None:
    behaves = dataclasses.replace(certificate, fingerprint="1" * 64)
    one, variant = row_of(certificate), row_of(behaves, BEADS.source + "# more\n")
    both = release(tmp_path / "both", [one, variant])

    def outcomes(folder: Path, home: str, keep: str = "false") -> list[tuple[str, str]]:
        command = ["import", folder, "--trust", "--home", tmp_path / home]
        _, told, _ = run(monkeypatch, capsys, *command, "--set", f"memory.keep_variants={keep}")
        return [(each["outcome"], each["reason"]) for each in told["candidates"]]

    # Among themselves they are as alike as whoever published them let them be.
    assert outcomes(both, "empty") == [("admitted", ""), ("admitted", "")]
    with Store.open(tmp_path / "empty" / "store") as store:
        assert {each.id for each in store.environments()} == {one["id"], variant["id"]}
        [second] = [each for each in store.environments() if each.id == variant["id"]]
        assert json.loads(second.decision)["nearest"] == one["id"]
    # What was there before is this home's to compare with.
    assert outcomes(release(tmp_path / "one", [one]), "full") == [("admitted", "")]
    assert outcomes(both, "full") == [("known", "same"), ("duplicate", "tree")]
    assert outcomes(both, "full", keep="true") == [("known", "same"), ("admitted", "")]


def test_the_first_origin_outlives_every_hop(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    certificate: Certificate,
    tmp_path: Path,
) -> None:
    def hop(number: int, **columns: str) -> Row:
        folder = release(tmp_path / f"release-{number}", [row_of(certificate, **columns)])
        home = tmp_path / f"home-{number}"
        code, told, _ = run(monkeypatch, capsys, "import", folder, "--trust", "--home", home)
        assert code == 0, told
        with Store.open(home / "store") as store:
            [design] = store.shard(1).designs
        brief: Row = json.loads(design.brief)
        assert brief["uri"] == f"file:release-{number}"
        return brief

    first = {"uri": "reasoning-gym", "place": "reasoning-gym:gcd"}
    for number in (1, 2):
        brief = hop(number, origin=first["uri"], origin_place=first["place"])
        assert brief["first"] == first
        first = brief["first"]
    assert "first" not in hop(3)
