"""The simple nouns that the grammar uses as topics and as names of things."""

from pathlib import Path

WORDS: tuple[str, ...] = tuple((Path(__file__).parent / "words.txt").read_text("utf-8").split())
