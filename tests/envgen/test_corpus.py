"""The corpus: reading documents of any size, drawing them in a resumable order, telling keywords."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import spadework
from envgen.corpus import (
    Corpus,
    CorpusConfig,
    Document,
    Files,
    Stream,
    builtin,
    cut,
    keywords,
)
from envgen.corpus.document import LONGEST
from envgen.corpus.order import shuffled
from spadekit.errors import BadInput
from tests.hub import Hub

ROOT = Path(__file__).parents[2]
KNOWN = frozenset((ROOT / "solver" / "embedded" / "words.txt").read_text().split())


def documents(files: Files) -> list[Document]:
    return [files.read(position) for position in range(len(files))]


def texts(files: Files) -> list[str]:
    return [document.text for document in documents(files)]


BUILTIN = {setting: documents(builtin(setting)) for setting in ("game", "tool_use")}


# The documents that ship


def test_some_forty_documents_ship_short_titled_free_and_no_two_with_one_name() -> None:
    both = [*BUILTIN["game"], *BUILTIN["tool_use"]]
    assert len(BUILTIN["game"]) >= 20
    assert len(BUILTIN["tool_use"]) >= 16
    assert len({document.id for document in both}) == len(both)
    for document in both:
        assert 120 <= len(document.text.split()) <= 260, document.id
        assert document.licence == "CC0-1.0"
        assert document.text.startswith(f"# {document.title}\n\n")


def test_no_two_documents_that_ship_share_a_run_of_eight_words() -> None:
    seen: dict[tuple[str, ...], str] = {}
    for document in [*BUILTIN["game"], *BUILTIN["tool_use"]]:
        words = document.text.lower().split()
        for run in zip(*(words[place:] for place in range(8)), strict=False):
            assert seen.setdefault(run, document.id) == document.id, run


def test_every_built_in_document_has_three_words_that_the_embedded_policy_can_spell() -> None:
    for document in [*BUILTIN["game"], *BUILTIN["tool_use"]]:
        assert set(keywords(document, 3, preferred=KNOWN)) <= KNOWN, document.id


# The order


@pytest.mark.parametrize("size", [1, 2, 3, 7, 40, 257])
def test_a_pass_has_every_document_once_in_an_order_of_its_own(size: int) -> None:
    orders = [[shuffled(place, size, seed) for place in range(size)] for seed in range(3)]
    assert all(sorted(order) == list(range(size)) for order in orders)
    if size > 5:
        assert len(set(map(tuple, orders))) == 3


def test_every_document_comes_first_about_equally_often() -> None:
    firsts = Counter(shuffled(0, 20, seed) for seed in range(2000))
    assert len(firsts) == 20
    assert 60 < min(firsts.values()) <= max(firsts.values()) < 140


def test_a_place_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="place"):
        shuffled(3, 3, 0)


def test_each_pass_draws_every_document_once_and_any_index_can_be_drawn_alone() -> None:
    shelf, again = builtin("game"), builtin("game")
    size = len(shelf)
    drawn = [shelf.at(index).id for index in range(3 * size)]
    for epoch in range(3):
        assert len(set(drawn[epoch * size : (epoch + 1) * size])) == size
    assert drawn[:size] != drawn[size : 2 * size]
    assert again.at(2 * size + 1).id == drawn[2 * size + 1]
    assert [builtin("game", seed=1).at(index).id for index in range(size)] != drawn[:size]


# Shelves


def test_games_and_tools_have_shelves_of_their_own_or_share_one(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("An ant.")
    own = Corpus.open(CorpusConfig())
    assert (own.shelf("game"), own.shelf("tool_use")) == ("game", "tool_use")
    assert own.drawn({"game": 3}, ["game", "tool_use", "game"]) == {"game": 5, "tool_use": 1}
    shared = Corpus.open(CorpusConfig(path=str(tmp_path)))
    assert shared.shelf("game") == shared.shelf("tool_use") == "both"
    assert shared.drawn({}, ["game", "tool_use"]) == {"both": 2}
    mixed = Corpus.open(CorpusConfig(path=str(tmp_path), tools_path="builtin"))
    assert mixed.at("game", 0).text == "An ant."
    assert mixed.at("tool_use", 0) in BUILTIN["tool_use"]
    none = Corpus.open(CorpusConfig(path="none"))
    assert (none.shelf("game"), none.drawn({}, ["game"])) == ("", {})
    half = Corpus.open(CorpusConfig(tools_path="none"))
    assert (half.shelf("game"), half.shelf("tool_use")) == ("game", "")


# Files


def test_a_folder_is_read_by_name_and_deep(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "c.md").write_text("hidden")
    (tmp_path / "b.txt").write_text("Bees\n\nA bee and a hive.")
    (tmp_path / "deep" / "a.md").write_text("# Ants\nAn ant.")
    (tmp_path / "empty.md").write_text(" \n")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\xff")
    found = documents(Files.open(tmp_path))
    assert [(one.id, one.title) for one in found] == [("b", "Bees"), ("deep/a", "Ants")]


def write(path: Path, rows: list[dict[str, object]], **options: object) -> Path:
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, **options)
    else:
        path.write_text("\n\n".join(map(json.dumps, rows)) + "\n\n")
    return path


ROWS: list[dict[str, object]] = [
    {"text": "one two", "id": None, "title": None, "licence": "MIT"},
    {"text": " \n", "id": "blank", "title": None, "licence": None},
    {"text": "# Five\nsix", "id": "x", "title": " T ", "licence": None},
]


@pytest.mark.parametrize("ending", [".jsonl", ".ndjson", ".parquet"])
@pytest.mark.parametrize("key", ["text", "orig_doc"])
def test_tables_are_read_with_either_key_and_blank_rows_left_out(
    tmp_path: Path, ending: str, key: str
) -> None:
    rows = [{key: row["text"]} | {k: v for k, v in row.items() if k != "text"} for row in ROWS]
    found = documents(Files.open(write(tmp_path / f"pages{ending}", rows), licence="CC0-1.0"))
    assert found == [
        Document("pages-1", "one two", "one two", "MIT"),
        Document("x", "T", "# Five\nsix", "CC0-1.0"),
    ]


def test_a_folder_of_tables_is_one_corpus_and_its_readme_no_document(tmp_path: Path) -> None:
    write(
        tmp_path / "data" / "a.parquet", [{"text": str(n)} for n in range(700)], row_group_size=300
    )
    write(tmp_path / "data" / "b.jsonl", [{"text": "b"}])
    (tmp_path / "README.md").write_text("# About the data")
    assert texts(Files.open(tmp_path)) == [*map(str, range(700)), "b"]


def test_a_null_in_a_table_is_no_document(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"text": "a"}, {"text": None}, {"text": "c"}]
    assert texts(Files.open(write(tmp_path / "a.parquet", rows))) == ["a", "c"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"text": "a"}\nnot json\n', "line 2: not JSON"),
        (b'{"text": "a"}\n[1]\n', "line 2: not a JSON object"),
        (b'\n{"title": "a"}\n', "line 2: no text under `text` or `orig_doc`"),
        (b'{"text": 3}\n', "line 1: no text"),
        (b'{"text": "\xff"}\n', "line 1: not JSON"),
        (b"[" * 100_000, "line 1: not JSON"),
        (b"", "empty"),
        (b'{"text": "  "}\n', "empty"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_bytes(content)
    with pytest.raises(BadInput, match=says) as caught:
        Files.open(file)
    assert "\n" not in str(caught.value)


def test_missing_empty_and_wrong_paths_are_one_clear_line(tmp_path: Path) -> None:
    for name in ("nowhere.jsonl", "nowhere"):
        with pytest.raises(BadInput, match="cannot be read: No such file"):
            Files.open(tmp_path / name)
    with pytest.raises(BadInput, match="empty"):
        Files.open(tmp_path)
    (tmp_path / "a.csv").write_text("x")
    with pytest.raises(BadInput, match=r"a corpus is a folder, or a \.jsonl"):
        Files.open(tmp_path / "a.csv")
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(BadInput, match="not a regular file"):
        Files.open(tmp_path / "pipe.jsonl")
    (tmp_path / "a.md").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="UTF-8"):
        Files.open(tmp_path / "a.md")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 cut off")
    with pytest.raises(BadInput, match="not a Parquet file") as caught:
        Files.open(tmp_path / "a.parquet")
    assert "\n" not in str(caught.value)
    for rows in ([{"words": "a"}], [{"text": 1}]):
        write(tmp_path / "a.parquet", rows)
        with pytest.raises(BadInput, match="no column `text`"):
            Files.open(tmp_path / "a.parquet")


@pytest.mark.parametrize("ending", [".jsonl", ".parquet", ".md"])
def test_a_file_that_changed_under_a_run_is_named(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"a{ending}"
    if ending == ".md":
        file.write_text("an ant")
    else:
        write(file, [{"text": "a"}])
    shelf = Files.open(file)
    file.unlink()
    with pytest.raises(BadInput, match="changed since the corpus was opened"):
        shelf.at(0)


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_a_large_file_is_never_in_memory_and_its_index_is_made_once(
    tmp_path: Path, ending: str
) -> None:
    filler = random.Random(0).randbytes(4_000).hex()
    file, count = tmp_path / f"big{ending}", 10_000
    if ending == ".jsonl":
        with file.open("w") as out:
            out.writelines(f'{{"text": "{number} {filler}"}}\n' for number in range(count))
    else:
        schema = pa.schema({"text": pa.string()})
        with pq.ParquetWriter(file, schema, compression="none", use_dictionary=False) as out:
            for start in range(0, count, 500):
                rows = [f"{number} {filler}" for number in range(start, start + 500)]
                out.write_table(pa.table({"text": rows}, schema=schema))
    whole = file.stat().st_size
    assert whole > 80e6
    program = (
        "import json, os, pathlib, resource, sys\n"
        "from envgen.corpus import Files\n"
        "path, notes = pathlib.Path(sys.argv[1]), []\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024\n"
        "def opened():\n"
        "    files = Files.open(path, kept=path.parent / 'kept', note=notes.append)\n"
        "    drawn = [files.at(index).text.split()[0] for index in range(100)]\n"
        "    return len(files), len(notes), peak() - before, drawn\n"
        "before = peak()\n"
        "first, again = opened(), opened()\n"
        "os.utime(path, (0, 0))\n"
        "print(json.dumps([first, again, opened()]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, file], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    first, again, touched = json.loads(done.stdout)
    assert first[0] == again[0] == count
    assert (first[1], again[1], touched[1]) == (1, 1, 2)
    assert touched[2] < whole / 2
    assert len(set(first[3])) == 100
    assert first[3] == again[3] == touched[3]
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_an_index_that_cannot_be_kept_or_was_damaged_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("envgen.corpus.local.LARGE", 1)
    file, kept = write(tmp_path / "a.jsonl", [{"text": "a"}, {"text": "b"}]), tmp_path / "kept"
    kept.write_text("a file where a folder should be")
    notes: list[str] = []
    assert texts(Files.open(file, kept=kept, note=notes.append)) == ["a", "b"]
    assert "not kept" in notes[-1]
    kept.unlink()
    Files.open(file, kept=kept)
    (index,) = kept.iterdir()
    index.write_bytes(index.read_bytes()[:-5])
    assert texts(Files.open(file, kept=kept)) == ["a", "b"]
    assert texts(Files.open(file, kept=kept, note=notes.append)) == ["a", "b"]
    assert len(notes) == 2


# Streams


def stream(passes: list[list[str]], log: list[int] | None = None) -> Stream:
    def one(epoch: int) -> Iterator[Document]:
        for text in passes[epoch % len(passes)]:
            if log is not None:
                log.append(epoch)
            yield Document(text, text, text, "")

    return Stream(one, "hf://a/b")


def test_a_stream_goes_through_pass_after_pass_and_any_index_can_be_drawn_alone() -> None:
    passes = [["a", "b", "c"], ["b", "c", "a"]]
    read = stream(passes)
    assert [read.at(index).id for index in range(7)] == list("abcbcaa")
    assert stream(passes).at(4).id == "c"
    assert read.at(1).id == "b"


def test_a_stream_reads_no_further_than_it_is_asked() -> None:
    log: list[int] = []
    read = stream([["a"] * 1000], log)
    read.at(5)
    read.at(7)
    assert len(log) == 8


def test_a_stream_without_documents_is_one_clear_line() -> None:
    with pytest.raises(BadInput, match="hf://a/b: the corpus is empty"):
        stream([[]]).at(0)


def test_a_data_set_of_the_hub_is_streamed_at_the_commit_it_was_first_seen_at(
    tmp_path: Path,
) -> None:
    rows = [{"orig_doc": f"Document {number}.", "id": f"d{number}"} for number in range(60)]
    write(tmp_path / "a.parquet", rows[:40])  # type: ignore[arg-type]
    write(tmp_path / "b.parquet", rows[40:])  # type: ignore[arg-type]
    files = {
        f"data/train-0000{part}-of-00002.parquet": (tmp_path / f"{name}.parquet").read_bytes()
        for part, name in enumerate("ab")
    }
    program = (
        "import json, sys, pathlib\n"
        "from envgen.corpus import Corpus, CorpusConfig\n"
        "from spadekit.errors import BadInput\n"
        "def drawn(uri, start, number):\n"
        "    try:\n"
        "        corpus = Corpus.open(CorpusConfig(path=uri), pathlib.Path(sys.argv[1]))\n"
        "        return [corpus.at('both', start + n).id for n in range(number)]\n"
        "    except BadInput as error:\n"
        "        return str(error)\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps([drawn(*asked) for asked in json.loads(line)]), flush=True)\n"
    )

    def client(hub: Hub) -> "subprocess.Popen[str]":
        environment = {
            **os.environ,
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(tmp_path / "cache"),
            "HF_HUB_DISABLE_XET": "1",
        }
        return subprocess.Popen(
            [sys.executable, "-c", program, tmp_path / "kept"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def drawn(
        process: "subprocess.Popen[str]", *asked: tuple[str, int, int]
    ) -> list[list[str] | str]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        return list(json.loads(process.stdout.readline()))

    uri = "hf://tester/docs"
    with Hub() as hub, client(hub) as process:
        repo = hub.data_set("tester/docs", files)
        hub.data_set("tester/odd", {"train.jsonl": b'{"words": "a"}\n'})
        hub.data_set("tester/nothing", {"train.jsonl": b'{"text": " "}\n'})
        hub.data_set("tester/code", {"setup.py": b"raise SystemExit(7)"})
        first, beyond, odd, nothing, code, missing, revision, wrong = drawn(
            process,
            (uri, 0, 60),
            (uri, 60, 60),
            ("hf://tester/odd", 0, 1),
            ("hf://tester/nothing", 0, 1),
            ("hf://tester/code", 0, 1),
            ("hf://tester/none", 0, 1),
            (f"{uri}@v9", 0, 1),
            ("hf://docs", 0, 1),
        )
        assert sorted(first) == sorted(beyond) == sorted(str(row["id"]) for row in rows)
        assert first != beyond
        repo.commit({"train.jsonl": b'{"text": "Another."}\n'}, "pushed while a run is going on")
        resumed, newest = drawn(process, (uri, 7, 5), (f"{uri}@main", 0, 2))
        assert resumed == first[7:12]
        assert len(set(newest)) == 2
        assert not set(newest) & set(first)
        for told, says in (
            (odd, "no text under"),
            (nothing, "empty"),
            (code, "cannot be streamed"),
            (missing, "no such data set"),
            (revision, "no such revision"),
            (wrong, "hf://USER/NAME"),
        ):
            assert isinstance(told, str)
            assert says in told
            assert "\n" not in told


# Length, keywords, settings


def words_of(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("text", "most", "left"),
    [
        ("one two  three", 3, "one two  three"),
        ("one two  three", 2, "one two"),
        ("one\ttwo\nthree", 1, "one"),
        ("  one", 1, "  one"),
        ("", 5, ""),
    ],
)
def test_a_text_is_cut_between_words(text: str, most: int, left: str) -> None:
    assert cut(text, most, words_of) == left


def test_a_text_is_cut_by_what_the_policy_counts_without_reading_all_of_it() -> None:
    asked: list[int] = []

    def size(text: str) -> int:
        asked.append(len(text))
        return len(text.encode()) // 4

    text = "A lock lifts a boat. " * 1_000_000
    left = cut(text, 1000, size)
    assert text.startswith(left)
    assert left[-1] in ".tksa"
    assert 990 <= size(left) <= 1000
    assert len(asked) < 20
    assert max(asked) <= 16_000
    chinese = "\u6c34" * 5000  # no spaces to cut at
    assert cut(chinese, 300, size) == "\u6c34" * 401
    assert cut("x" * 100, 1, len) == "x"


def test_no_more_of_a_document_is_read_than_a_context_could_hold(tmp_path: Path) -> None:
    file = tmp_path / "long.txt"
    file.write_text("word " * LONGEST)
    assert len(Files.open(file).at(0).text) <= LONGEST


def test_keywords_name_the_subject_and_prefer_known_words() -> None:
    games = {document.id: document for document in BUILTIN["game"]}
    assert keywords(games["canal-locks"], 3)[:3] == ("canal", "lock", "gate")
    assert keywords(games["bee-dance"], 2, preferred={"hive", "flower"}) == ("hive", "flower")
    assert keywords(games["primes"], 0) == ()
    assert keywords(Document("x", "", "", ""), 3) == ()
    assert keywords(games["tides"], 3) == keywords(games["tides"], 3)


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="path"):
        CorpusConfig(path="")
    with pytest.raises(ValueError, match="max_tokens"):
        CorpusConfig(max_tokens=0)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("pages.jsonl", "not json\n", "line 1: not JSON"),
        ("pages.jsonl", "", "the corpus is empty"),
        ("nowhere", None, "cannot be read"),
    ],
)
def test_a_corpus_that_cannot_be_used_is_exit_2_and_one_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    name: str,
    content: str | None,
    says: str,
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    arguments = ["--set", f"corpus.path={tmp_path / name}", "--home", str(tmp_path / "home")]
    monkeypatch.setattr(sys, "argv", ["spadework", "generate", *arguments])
    with pytest.raises(SystemExit) as ended:
        spadework.main()
    told = capsys.readouterr()
    assert (ended.value.code, told.out) == (2, "")
    assert told.err.count("\n") == 1
    assert says in told.err
    assert not (tmp_path / "home" / "store" / "shards").exists()
