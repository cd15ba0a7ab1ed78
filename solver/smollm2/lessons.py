"""What the warm-up teaches: the embedded policy's designs and plays, in the words of another model.

The policy gets a chat template of its own, plain ChatML: SmolLM2's puts a sentence about itself before
every conversation, and knows no tools, whose schemas would have to be told in 200 tokens.

Designs come from a book that is read several times: an adapter has to learn to write programs in which
all fits together, and learns that sooner from few programs than from ever new ones. Plays are new at
every step.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from random import Random

from solver.chat import Chat, Spoken
from solver.embedded import data
from solver.embedded.data import Segment
from solver.embedded.grammar import Program
from spadekit.seeds import derive

TEMPLATE = (
    "{%- if tools %}{{ '<|im_start|>system\ntools' }}"
    "{%- for tool in tools %}{{ ' ' + tool.function.name + '('"
    " + tool.function.parameters.properties.keys() | join(', ') + ')' }}{% endfor %}"
    "{{- '<|im_end|>\n' }}{% endif %}"
    "{%- for message in messages %}"
    "{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

SKILLS = (
    "mathematical_reasoning",
    "logical_deduction",
    "pattern_recognition",
    "optimisation",
    "causal_inference",
    "memory_recall",
    "language_understanding",
    "data_retrieval",
)
"""Of the grammar's thirteen, those with the shortest programs. The recipe asks for these."""
BOOK = 160
"""Designs of the book, as many of each skill."""

Row = tuple[list[int], list[int]]
"""The ids of a conversation, and a mask that is 1 on those that the loss counts."""


Drawn = tuple[list[Segment], Program]
"""A conversation, and the program it is about."""


def lesson(seed: int, step: int, designs: int, plays: int) -> list[list[Segment]]:
    """Return the conversations of one step: the same for the same seed and step, whatever came before."""
    return [segments for segments, _ in _drawn(seed, step, designs, plays)]


def digest(seed: int, designs: int, plays: int) -> str:
    """Return a digest of what is taught, read off the book, the template and the first lessons.

    So a warm-up that was begun with other lessons, or another grammar, is told from this one.
    """
    book = [_text(_page(seed, page)[0]) for page in range(BOOK)]
    first = [_text(talk) for step in range(8) for talk in lesson(seed, step, designs, plays)]
    return hashlib.sha256(json.dumps([TEMPLATE, book, first]).encode()).hexdigest()


def programs(seed: int, steps: int, designs: int, plays: int) -> Iterator[Program]:
    """Yield again the programs behind the first ``steps`` lessons."""
    for step in range(steps):
        for _, program in _drawn(seed, step, designs, plays):
            yield program


def _text(talk: Sequence[Segment]) -> list[list[str]]:
    return [[segment.role, segment.text] for segment in talk]


def _drawn(seed: int, step: int, designs: int, plays: int) -> list[Drawn]:
    begin = step * designs
    rng = Random(derive(seed, "lesson", step))
    return [
        *(_page(seed, number % BOOK) for number in range(begin, begin + designs)),
        *(_of(rng.choice(SKILLS), data.play, rng) for _ in range(plays)),
    ]


def _page(seed: int, page: int) -> Drawn:
    """A design of the book, the skills in turn."""
    return _of(SKILLS[page % len(SKILLS)], data.design, Random(derive(seed, "book", page)))


def _of(skill: str, draw: Callable[[Random], Drawn], rng: Random) -> Drawn:
    while True:
        segments, program = draw(rng)
        if program.skill == skill:
            return segments, program


def encode(chat: Chat, segments: Sequence[Segment]) -> Row:
    """Return the ids as an episode lays them down (``solver.chat``): prompts, suffixes, replies."""
    ids: list[int] = []
    mask: list[int] = []
    heard: list[Spoken] = []
    for segment in segments:
        if segment.role != "assistant":
            heard.append(Spoken(segment.role, segment.text))
            continue
        asked = chat.follow(heard) if ids else chat.start(heard)
        reply = [*chat.tokenizer.encode(segment.text, add_special_tokens=False), chat.close_id]
        ids += [*asked, *reply]
        mask += [0] * len(asked) + [int(segment.trained)] * len(reply)
        heard = []
    return ids, mask
