"""The corpus: reading documents, drawing them in a resumable order, telling keywords."""

import json
from pathlib import Path

import pytest

from envgen.corpus import Corpus, CorpusConfig, Document, keywords, read
from spadekit.errors import BadInput


def builtin() -> Corpus:
    corpus = Corpus.open(CorpusConfig())
    assert corpus is not None
    return corpus


def test_the_built_in_documents_are_short_titled_and_free() -> None:
    documents = builtin().documents
    assert 12 <= len(documents) <= 16
    for document in documents:
        assert 120 <= len(document.text.split()) <= 250
        assert document.licence == "CC0-1.0"
        assert document.title
        assert not document.title.startswith("#")


def test_none_is_no_corpus() -> None:
    assert Corpus.open(CorpusConfig(path="none")) is None


def test_each_pass_draws_every_document_once_and_any_index_can_be_drawn_alone() -> None:
    corpus, again = builtin(), builtin()
    size = len(corpus)
    drawn = [corpus.at(index).id for index in range(3 * size)]
    for epoch in range(3):
        assert len(set(drawn[epoch * size : (epoch + 1) * size])) == size
    assert drawn[:size] != drawn[size : 2 * size]
    assert again.at(2 * size + 1).id == drawn[2 * size + 1]
    assert Corpus(corpus.documents, seed=1).order() != corpus.order()


def test_a_folder_is_read_by_name_and_deep(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "b.txt").write_text("Bees\n\nA bee and a hive.")
    (tmp_path / "deep" / "a.md").write_text("# Ants\nAn ant.")
    (tmp_path / "empty.md").write_text(" \n")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\xff")
    found = read(tmp_path)
    assert [(one.id, one.title) for one in found] == [("b", "Bees"), ("deep/a", "Ants")]


def test_lines_are_read_with_either_key_and_cut_at_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "pages.jsonl"
    rows = [{"text": "one two three four"}, {"orig_doc": "five", "id": "x", "title": "T"}]
    file.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    found = read(file, max_words=2)
    assert [one.text for one in found] == ["one two", "five"]
    assert (found[0].id, found[1].id, found[1].title) == ("pages-1", "x", "T")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"text": "a"}\nnot json\n', "line 2 is not JSON"),
        (b'{"text": "a"}\n[1]\n', "line 2 is not a JSON object"),
        (b'{"title": "a"}\n', "line 1 has no text"),
        (b'{"text": 3}\n', "line 1 has no text"),
        (b'{"text": "a", "id": "x"}\n{"text": "b", "id": "x"}\n', "line 2 repeats"),
        (b'{"text": "\xff"}\n', "line 1 is not JSON"),
        (b"", "empty"),
        (b'{"text": "  "}\n', "empty"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_bytes(content)
    with pytest.raises(BadInput, match=says):
        read(file)


def test_missing_empty_and_wrong_paths_are_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read(tmp_path / "nowhere.jsonl")
    with pytest.raises(BadInput, match="empty"):
        read(tmp_path)
    (tmp_path / "a.csv").write_text("x")
    with pytest.raises(BadInput, match=r"folder or a \.jsonl"):
        read(tmp_path / "a.csv")
    (tmp_path / "a.md").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="UTF-8"):
        read(tmp_path)


def test_keywords_name_the_subject_and_prefer_known_words() -> None:
    documents = {document.id: document for document in builtin().documents}
    assert keywords(documents["canal-locks"], 3)[:3] == ("canal", "lock", "gate")
    assert keywords(documents["bee-dance"], 2, preferred={"hive", "flower"}) == ("hive", "flower")
    assert keywords(documents["primes"], 0) == ()
    assert keywords(Document("x", "", "", ""), 3) == ()
    assert keywords(documents["tides"], 3) == keywords(documents["tides"], 3)


def test_every_built_in_document_has_three_words_that_the_embedded_policy_can_spell() -> None:
    words = Path(__file__).parents[2] / "solver" / "embedded" / "words.txt"
    known = frozenset(words.read_text().split())
    for document in builtin().documents:
        assert set(keywords(document, 3, preferred=known)) <= known, document.id


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="path"):
        CorpusConfig(path="")
    with pytest.raises(ValueError, match="max_words"):
        CorpusConfig(max_words=0)
