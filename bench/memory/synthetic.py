"""Records as the memory gets them, made up by number: any count, the same on every machine."""

import random
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memory import EnvironmentRecord, StandingRecord, environment_id
from memory.embedding import Embedder

Array = npt.NDArray[np.float32]

SOURCE_BYTES = 4096
WIDTH = 384
SKILLS = (
    *("spatial_reasoning", "mathematical_reasoning", "logical_deduction", "pattern_recognition"),
    *("optimisation", "causal_inference", "strategic_planning", "memory_recall"),
    *("language_understanding", "data_retrieval", "state_modification", "error_recovery"),
)
_TEXT = """
amber barge canal dune ember ferry gate harbour island jar kiln lantern mill noon orchard parcel
quarry river signal tide umber vault willow yard zinc anchor beacon cobalt dagger engine fjord garden
hatch ivory jetty kettle loom meadow needle oven piston quilt rail sail tower urn valve wharf yoke
zeal
"""
WORDS = tuple(_TEXT.split())
STATUSES = ("frontier", "mastered", "hopeless", "unmeasured")


def environment(number: int, shard: int) -> EnvironmentRecord:
    """Return environment ``number``; its description ends in ``#number``."""
    chance = random.Random(number)
    words = chance.choices(WORDS, k=12)
    title = f"{words[0].title()} and {words[1]}."
    source = program(number, chance)
    hint = " ".join(words[:8])
    return EnvironmentRecord(
        id=environment_id("game", source, hint),
        shard=shard,
        setting="game" if number % 3 else "tool_use",
        skills=(SKILLS[number % len(SKILLS)],),
        title=title,
        description=f"{title}\nBring the {' '.join(words[2:])} in order. #{number}",
        source=source,
        hint=hint,
        tools="",
        difficulty=1 + number % 5,
        certificate="{}",
        policy_version=0,
        parents=(),
        document="",
        design="",
        digest=f"{number:020x}",
        fingerprint=f"{number:064x}",
        isolation="nsjail",
        decision="{}",
    )


def program(number: int, chance: random.Random) -> str:
    """Return a program of ``SOURCE_BYTES`` characters, unlike others in its tree."""
    lines = [f"class Number{number}Env:", "    def reset(self, seed=None):", "        self.at = 0"]
    size = sum(map(len, lines)) + len(lines)
    verbs = ("min", "max", "sum", "len", "abs", "sorted", "divmod", "pow")
    while size < SOURCE_BYTES:
        one, two = chance.choices(WORDS, k=2)
        line = chance.choice(
            (
                f"        {one} = {chance.choice(verbs)}({two}, {chance.randrange(99)})",
                f"        if {one} {chance.choice('<>')} {chance.choice(verbs)}({two}): self.at += 1",
                f"        for {one} in {chance.choice(verbs)}({two}): {one} {chance.choice('+-*')}= 1",
                f"        self.{one} = [{two}] {chance.choice('+*')} {chance.randrange(9)}",
                f"        while {one} and not {two}: {one} {chance.choice('+-')}= {two}",
            )
        )
        lines.append(line)
        size += len(line) + 1
    return "\n".join(lines)[:SOURCE_BYTES].rpartition("\n")[0] + "\n"


def standing(record: EnvironmentRecord, number: int) -> StandingRecord:
    """Return what was measured of environment ``number``."""
    chance = random.Random(-number - 1)
    bare, regret = chance.random(), chance.uniform(-0.2, 0.6)
    return StandingRecord(
        environment=record.id,
        policy_version=0,
        plays_unhinted=8,
        plays_hinted=8,
        return_unhinted=bare,
        return_hinted=min(1.0, bare + regret),
        regret=regret,
        regret_low=regret - 0.1,
        regret_high=regret + 0.1,
        status=STATUSES[number % len(STATUSES)],
        hint_only=False,
        updated=1,
    )


def unit_vectors(count: int, seed: int = 0, centres: int = 3000, noise: float = 0.59) -> Array:
    """Return ``count`` clustered vectors of unit length, shape (count, WIDTH).

    Text embeddings are clustered; vectors drawn evenly from the sphere have no near neighbours, and
    an index has nothing to find among them. ``noise`` is the length of a vector's own part.
    """
    chance = np.random.default_rng(seed)
    middle_CD = _unit(chance.normal(size=(centres, WIDTH)).astype(np.float32))
    found_ND = np.empty((count, WIDTH), np.float32)
    for start in range(0, count, 50_000):
        part = slice(start, min(count, start + 50_000))
        size = part.stop - part.start
        own_ND = _unit(chance.standard_normal((size, WIDTH), dtype=np.float32))
        found_ND[part] = _unit(middle_CD[chance.integers(0, centres, size)] + noise * own_ND)
    return found_ND


def queries(vectors_ND: Array, count: int, seed: int = 1) -> Array:
    """Return vectors near ``count`` of the given ones, as a paraphrase is near its text."""
    chance = np.random.default_rng(seed)
    near_QD = vectors_ND[chance.integers(0, len(vectors_ND), count)]
    own_QD = _unit(chance.standard_normal((count, WIDTH), dtype=np.float32))
    return _unit(near_QD + np.float32(0.4) * own_QD)


class Numbered(Embedder):
    """Gives text that ends in ``#i`` row i of a matrix: embedding costs nothing here."""

    def __init__(self, vectors_ND: Array) -> None:
        super().__init__("synthetic")
        self.vectors_ND = vectors_ND

    @property
    def name(self) -> str:
        """What is stored as the model's name."""
        return "synthetic"

    @property
    def width(self) -> int:
        """Length of an embedding."""
        return WIDTH

    def embed(self, texts: Sequence[str]) -> Array:
        """Return the rows that the texts name."""
        rows = [int(text.rpartition("#")[2].split()[0]) for text in texts]
        return np.asarray(self.vectors_ND[rows], np.float32)

    def embed_query(self, text: str) -> Array:
        """Return the row that the text names."""
        return np.asarray(self.embed([text])[0], np.float32)


def _unit(rows_ND: Array) -> Array:
    return np.asarray(rows_ND / np.linalg.norm(rows_ND, axis=1, keepdims=True), np.float32)
