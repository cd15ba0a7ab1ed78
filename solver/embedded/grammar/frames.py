"""The frames around a question with one right answer: layout of the class, tries, verdicts, rounds."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from solver.embedded.grammar.base import UNBOX, Ask, Demo, Draw, Program, Say, Turn, boxed, spoil


@dataclass(frozen=True)
class Question:
    """One instance: what is shown, the answer, and the steps that lead to it."""

    text: str
    answer: str
    scratch: str


@dataclass(frozen=True)
class Puzzle:
    """A family's variant: code that draws an instance, and the same thing as a function."""

    family: str
    skill: str
    name: str
    title: str
    hint: str
    body: tuple[str, ...]
    text: str
    answer: str
    make: Callable[[Random], Question]
    fields: tuple[str, ...] = ()
    hasty: float = 0.08
    rounds: bool = True
    """Whether two questions may be asked in a row (not where one could give away another)."""


@dataclass(frozen=True)
class Verdict:
    """How step() judges: its lines, what it needs set in reset(), and what it says to a miss."""

    setup: tuple[str, ...]
    lines: tuple[str, ...]
    miss: Callable[[str, str, int], str]


def framed(draw: Draw, puzzle: Puzzle) -> Program:
    """Put a frame around a puzzle."""
    rounds = 2 if puzzle.rounds and draw.level <= 3 and draw.pick.random() < 0.25 else 1
    strip = draw.one("", "", ".strip()")
    guess = f"guess = {UNBOX}{strip}"
    if rounds > 1:
        blocks, play = _rounds(draw, puzzle, guess, rounds)
    else:
        blocks, play = _tries(draw, puzzle, guess)
    lines = ["import random", "", "", f"class {puzzle.name}Env:", f'    """{puzzle.title}"""']
    if puzzle.fields:
        lines += ["", *(f"    {field}" for field in puzzle.fields)]
    for block in blocks:
        lines += ["", *(f"    {line}" for line in block)]
    source = "\n".join(lines) + "\n"
    return Program(
        "game", puzzle.skill, puzzle.family, draw.level, puzzle.title, source, puzzle.hint, (), play
    )


def _indent(lines: tuple[str, ...] | list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _tries(draw: Draw, puzzle: Puzzle, guess: str) -> tuple[list[list[str]], Callable[[Ask], Demo]]:
    tries = draw.numbers.choice((1, 2, 2, 3))
    verdict = _verdict(draw, tries)
    body = list(puzzle.body)
    layout = draw.one("inline", "inline", "make", "state")
    blocks: list[list[str]]
    if layout == "inline":
        setup = [f"self.answer = {puzzle.answer}", *verdict.setup]
        lines = ["rng = random.Random(seed)", *body, *setup, f"return {puzzle.text}, {{}}"]
        blocks = [["def reset(self, seed=None):", *_indent(lines)]]
    elif layout == "make":
        lines = ["rng = random.Random(seed)", "text, self.answer = self.make(rng)"]
        lines += [*verdict.setup, "return text, {}"]
        make = [*body, f"answer = {puzzle.answer}", f"return {puzzle.text}, answer"]
        blocks = [["def reset(self, seed=None):", *_indent(lines)]]
        blocks += [["def make(self, rng):", *_indent(make)]]
    else:
        setup = [f"self.answer = {puzzle.answer}", f"self.text = {puzzle.text}"]
        lines = ["rng = random.Random(seed)", *verdict.setup, *body, *setup]
        lines += ["return self.text, {}"]
        blocks = [["def reset(self, seed=None):", *_indent(lines)]]
    step = ["def step(self, action):", *_indent([guess, *verdict.lines])]
    solution = ["def solution(self):", *_indent([draw.one(*_SOLUTIONS)])]
    blocks += [solution, step] if draw.pick.random() < 0.3 else [step, solution]

    def play(ask: Ask) -> Demo:
        question = puzzle.make(Random(ask.seed))
        return _demo(ask, puzzle, [question], tries, verdict.miss)

    return blocks, play


_SOLUTIONS = (
    "return [self.answer]",
    "return self.answer",
    "return ['\\\\boxed{' + self.answer + '}']",
)


def _verdict(draw: Draw, tries: int) -> Verdict:
    count = (f"self.tries = {tries}",)
    lower = "self.tries -= 1"
    yes = draw.one("yes", "right", "well done")
    no = draw.one("no", "not yet", "wrong")
    hit = (f"    return '{yes}', 1.0, True, False, {{}}",)
    lines: tuple[str, ...]
    kind = draw.pick.randrange(5)
    if kind == 0:
        lines = (lower, "if guess == self.answer:", *hit)
        lines += (f"return '{no}', 0.0, self.tries < 1, False, {{}}",)
        return Verdict(count, lines, lambda _guess, _answer, _left: no)
    if kind == 1:
        lines = (
            "win = guess == self.answer",
            lower,
            f"text = '{yes}' if win else '{no}'",
            "return text, float(win), win or self.tries == 0, False, {}",
        )
        return Verdict(count, lines, lambda _guess, _answer, _left: no)
    if kind == 2:
        lines = (
            "if guess.split() == self.answer.split():",
            *hit,
            lower,
            f"return f'{no}, {{self.tries}} left', 0.0, False, self.tries == 0, {{}}",
        )
        return Verdict(count, lines, lambda _guess, _answer, left: f"{no}, {left} left")
    if kind == 3:
        lines = (
            "pairs = zip(guess.split(), self.answer.split())",
            "near = sum(x == y for x, y in pairs)",
            lower,
            "win = guess == self.answer",
            "return f'{near} right', float(win), win or self.tries < 1, False, {}",
        )
        return Verdict(count, lines, _near)
    lines = (
        "self.seen.append(guess)",
        "if self.answer in self.seen:",
        *hit,
        f"return '{no}', 0.0, len(self.seen) >= {tries}, False, {{}}",
    )
    return Verdict(("self.seen = []",), lines, lambda _guess, _answer, _left: no)


def _near(guess: str, answer: str, left: int) -> str:
    near = sum(x == y for x, y in zip(guess.split(), answer.split(), strict=False))
    return f"{near} right"


def _rounds(
    draw: Draw, puzzle: Puzzle, guess: str, rounds: int
) -> tuple[list[list[str]], Callable[[Ask], Demo]]:
    reset = [
        "rng = random.Random(seed)",
        f"self.asks = [self.make(rng) for _ in range({rounds})]",
        "self.at = 0",
        "return self.asks[0][0], {}",
    ]
    make = [*puzzle.body, f"return {puzzle.text}, {puzzle.answer}"]
    if draw.pick.random() < 0.5:
        step = [
            guess,
            "if guess != self.asks[self.at][1]:",
            "    return 'no', 0.0, True, False, {}",
            "self.at += 1",
            f"if self.at == {rounds}:",
            "    return 'yes', 1.0, True, False, {}",
            "return self.asks[self.at][0], 0.0, False, False, {}",
        ]
    else:
        step = [
            guess,
            "win = guess == self.asks[self.at][1]",
            "self.at += 1",
            f"if win and self.at < {rounds}:",
            "    return self.asks[self.at][0], 0.0, False, False, {}",
            "return 'over', float(win), True, False, {}",
        ]
    solution = ["return [answer for text, answer in self.asks]"]
    blocks = [
        ["def reset(self, seed=None):", *_indent(reset)],
        ["def make(self, rng):", *_indent(make)],
        ["def step(self, action):", *_indent(step)],
        ["def solution(self):", *_indent(solution)],
    ]

    def play(ask: Ask) -> Demo:
        rng = Random(ask.seed)
        questions = [puzzle.make(rng) for _ in range(rounds)]
        return _demo(ask, puzzle, questions, 1, lambda _guess, _answer, _left: "")

    return blocks, play


def _demo(
    ask: Ask,
    puzzle: Puzzle,
    questions: list[Question],
    tries: int,
    miss: Callable[[str, str, int], str],
) -> Demo:
    """Play questions in a row; a miss may be tried again while tries are left."""
    turns: list[Turn] = []
    for question in questions:
        seen = question.text
        right = False
        careful = ask.careful
        for left in range(tries - 1, -1, -1):
            # A slip is shown, not taught: what is taught is how to go on after it.
            slip = careful and left > 0 and ask.rng.random() < 0.12
            right = not slip if careful else ask.rng.random() < puzzle.hasty
            answer = question.answer if right else spoil(question.answer, ask.rng)
            right = answer == question.answer
            reply = boxed(answer, question.scratch if careful else "")
            turns.append(Turn((Say("user", seen),), reply, not slip))
            if right:
                break
            seen = miss(answer, question.answer, left)
            careful = ask.careful or ask.rng.random() < 0.1
        if not right:
            return Demo(ask.seed, tuple(turns), False)
    return Demo(ask.seed, tuple(turns), True)
