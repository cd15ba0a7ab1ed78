"""What a family of environment programs gives: a program, and demonstrations made without running it."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

UNBOX = "action.removeprefix('\\\\boxed{').removesuffix('}')"
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Say:
    """One message that the player sees."""

    role: str
    content: str


@dataclass(frozen=True)
class Turn:
    """What the player saw and replied; only trained replies count in the loss."""

    seen: tuple[Say, ...]
    reply: str
    trained: bool = True


@dataclass(frozen=True)
class Demo:
    """One play of one seed, worked out from the rules that the grammar itself chose."""

    seed: int
    turns: tuple[Turn, ...]
    won: bool


@dataclass(frozen=True)
class Ask:
    """How a demonstration is to be made. ``careful`` plays work step by step, others answer at once."""

    seed: int
    hinted: bool
    careful: bool
    rng: Random


@dataclass(frozen=True)
class Program:
    """One environment program of a family, its hint, and its player."""

    setting: str
    skill: str
    family: str
    level: int
    title: str
    source: str
    hint: str
    tools: tuple[tuple[str, tuple[str, ...]], ...]
    play: Callable[[Ask], Demo]


@dataclass(frozen=True)
class Draw:
    """What a family draws a program from: choices, level 1..5, and words (the topic's come first).

    ``pick`` decides structure and wording and is one of a family's few styles; ``numbers`` decides
    the constants and is new for every program. Two million parameters learn a few ways of writing a
    family for certain, and many only by halves.
    """

    pick: Random
    numbers: Random
    level: int
    words: tuple[str, ...]

    @property
    def topic(self) -> str:
        """The one word that titles use."""
        return self.words[0]

    def knob(self, *by_level: int) -> int:
        """Return the level's number, moved by up to a fifth so that programs differ."""
        value = by_level[self.level - 1]
        return value + self.numbers.randint(-(value // 6), value // 5)

    def one(self, *choices: str) -> str:
        """Return one of the choices."""
        return self.pick.choice(choices)

    def names(self, count: int) -> str:
        """Return ``count`` different words, joined by spaces, as a program's list of names."""
        return " ".join(self.words[:count])


def join(values: object) -> str:
    """Join values by single spaces, as the programs do."""
    return " ".join(map(str, values))  # type: ignore[call-overload]


def boxed(answer: str, scratch: str = "") -> str:
    """Return a reply: scratch text, if any, then the boxed answer."""
    return f"{scratch} \\boxed{{{answer}}}" if scratch else f"\\boxed{{{answer}}}"


def spoil(answer: str, rng: Random) -> str:
    """Return a plausible wrong answer: one number off, or two items exchanged."""
    items = answer.split()
    place = rng.randrange(len(items))
    if items[place].isdigit() and (len(items) < 2 or rng.random() < 0.6):
        step = rng.choice((-2, -1, -1, 1, 1, 2, 3, 10))
        items[place] = str(abs(int(items[place]) + step))
    elif len(items) > 1:
        other = rng.randrange(len(items) - 1)
        other += other >= place
        items[place], items[other] = items[other], items[place]
    return " ".join(items)


def source_of(*lines: str) -> str:
    """Join the lines of a program."""
    return "\n".join(lines) + "\n"
