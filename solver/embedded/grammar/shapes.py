"""Ways to write the same thing: the structural variety inside a family.

The memory refuses a program whose normal form resembles a known one, whatever its constants and names
are. So each recurring part of a program is drawn from several forms that differ in their syntax.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from solver.embedded.grammar.base import UNBOX, Draw


@dataclass(frozen=True)
class Names:
    """Code that draws some of a list of names into ``names``, and the same as a function."""

    fields: tuple[str, ...]
    lines: tuple[str, ...]
    draw: Callable[[Random], list[str]]


def names_of(draw: Draw, pool: Sequence[str], many: int) -> Names:
    """Draw ``many`` of ``pool`` in one of five ways."""
    listed = f"'{' '.join(pool)}'.split()"
    style = draw.pick.randrange(5)
    if style == 0:
        line = f"names = rng.sample({listed}, {many})"
        return Names((), (line,), lambda rng: rng.sample(list(pool), many))
    if style == 1:
        line = f"names = rng.sample(self.items, {many})"
        return Names((f"items = {listed}",), (line,), lambda rng: rng.sample(list(pool), many))
    if style == 2:
        lines = (f"names = {listed}", "rng.shuffle(names)", f"names = names[:{many}]")
        return Names((), lines, lambda rng: _shuffled(rng, pool)[:many])
    if style == 3:
        line = f"names = sorted({listed}, key=lambda n: rng.random())[:{many}]"
        return Names((), (line,), lambda rng: sorted(pool, key=lambda n: rng.random())[:many])
    lines = (
        f"left, names = {listed}, []",
        f"while len(names) < {many}:",
        "    names.append(left.pop(rng.randrange(len(left))))",
    )
    return Names((), lines, lambda rng: _popped(rng, pool, many))


def _shuffled(rng: Random, pool: Sequence[str]) -> list[str]:
    items = list(pool)
    rng.shuffle(items)
    return items


def _popped(rng: Random, pool: Sequence[str], many: int) -> list[str]:
    left = list(pool)
    names: list[str] = []
    while len(names) < many:
        names.append(left.pop(rng.randrange(len(left))))
    return names


@dataclass(frozen=True)
class Values:
    """Code that gives each name a number, and the same as a function."""

    lines: tuple[str, ...]
    draw: Callable[[Random, Sequence[str]], dict[str, int]]


def values_of(draw: Draw, target: str, low: int, high: int) -> Values:
    """Fill the dictionary ``target`` with numbers for ``names`` in one of four ways."""
    style = draw.pick.randrange(4)
    lines: tuple[str, ...]
    if style == 0:
        line = f"{target} = {{n: rng.randint({low}, {high}) for n in names}}"
        return Values((line,), lambda rng, names: {n: rng.randint(low, high) for n in names})
    if style == 1:
        lines = (
            f"{target} = {{}}",
            "for n in names:",
            f"    {target}[n] = rng.randint({low}, {high})",
        )
        return Values(lines, lambda rng, names: {n: rng.randint(low, high) for n in names})
    if style == 2:
        line = f"{target} = dict(zip(names, rng.choices(range({low}, {high + 1}), k=len(names))))"
        return Values((line,), _chosen(low, high))
    lines = (
        f"marks = [rng.randrange({low}, {high + 1}) for _ in names]",
        f"{target} = dict(zip(names, marks))",
    )
    return Values(lines, lambda rng, names: {n: rng.randint(low, high) for n in names})


def _chosen(low: int, high: int) -> Callable[[Random, Sequence[str]], dict[str, int]]:
    def fill(rng: Random, names: Sequence[str]) -> dict[str, int]:
        marks = rng.choices(range(low, high + 1), k=len(names))
        return dict(zip(names, marks, strict=True))

    return fill


@dataclass(frozen=True)
class Tail:
    """How a step ends: what reset() must set, and the lines from the verdict on."""

    setup: tuple[str, ...]
    lines: tuple[str, ...]


def tail_of(draw: Draw, win: str, hit: str, miss: str, tries: int) -> Tail:
    """End a step that wins when ``win`` holds; ``hit`` and ``miss`` are expressions for the text."""
    style = draw.pick.randrange(6)
    won = f"    return {hit}, 1.0, True, False, {{}}"
    count = (f"self.tries = {tries}",)
    if style == 0:
        lines: tuple[str, ...] = ("self.tries -= 1", f"if {win}:", won)
        return Tail(count, (*lines, f"return {miss}, 0.0, self.tries < 1, False, {{}}"))
    if style == 1:
        lines = ("self.tries -= 1", f"win = {win}", f"text = {hit} if win else {miss}")
        return Tail(count, (*lines, "return text, float(win), win or self.tries == 0, False, {}"))
    if style == 2:
        lines = (
            "self.turn += 1",
            f"text, reward = {miss}, 0.0",
            f"if {win}:",
            f"    text, reward = {hit}, 1.0",
        )
        last = f"return text, reward, reward > 0 or self.turn >= {tries}, False, {{}}"
        return Tail(("self.turn = 0",), (*lines, last))
    if style == 3:
        lines = (f"if {win}:", won, "self.tries -= 1")
        return Tail(count, (*lines, f"return {miss}, 0.0, False, self.tries <= 0, {{}}"))
    if style == 4:
        lines = (
            "self.log.append(action)",
            f"if not ({win}):",
            f"    over = len(self.log) >= {tries}",
        )
        lines += (f"    return {miss}, 0.0, over, False, {{}}", won[4:])
        return Tail(("self.log = []",), lines)
    lines = (f"win = {win}", "self.tries -= not win", "over = win or not self.tries")
    lines += (f"return [{miss}, {hit}][win], 1.0 * win, over, False, {{}}",)
    return Tail(count, lines)


@dataclass(frozen=True)
class Layout:
    """A game written by hand: the bodies of its three methods, class fields, and further methods."""

    name: str
    title: str
    reset: Sequence[str]
    step: Sequence[str]
    solution: Sequence[str]
    fields: Sequence[str] = ()
    more: Sequence[Sequence[str]] = ()

    def source(self, draw: Draw) -> str:
        """Return the program; the order of its methods is drawn."""
        reset = ["def reset(self, seed=None):", *(f"    {line}" for line in self.reset)]
        step = ["def step(self, action):", *(f"    {line}" for line in self.step)]
        solution = ["def solution(self):", *(f"    {line}" for line in self.solution)]
        rest = (
            [step, solution, *self.more]
            if draw.pick.random() < 0.5
            else [*self.more, step, solution]
        )
        lines = ["import random", "", "", f"class {self.name}Env:", f'    """{self.title}"""']
        if self.fields:
            lines += ["", *(f"    {field}" for field in self.fields)]
        for block in [reset, *rest]:
            lines += ["", *(f"    {line}" for line in block)]
        return "\n".join(lines) + "\n"


def reading(draw: Draw, target: str = "guess", after: str = "") -> tuple[str, list[list[str]]]:
    """Return the line that unboxes the action, and a method if the line calls one."""
    if draw.pick.random() < 0.6:
        return f"{target} = {UNBOX}{after}", []
    return f"{target} = self.read(action)", [
        ["def read(self, action):", f"    return {UNBOX}{after}"]
    ]


def calls_of(draw: Draw, calls: Sequence[tuple[str, dict[str, str]]]) -> list[list[str]]:
    """Write solution() of a tool-use program; values are expressions."""
    style = draw.pick.randrange(4)
    listed = ", ".join(call_code(repr(tool), given) for tool, given in calls)
    if style == 0:
        return [["def solution(self):", f"    return [{listed}]"]]
    if style == 1:
        lines = ["def solution(self):", "    plan = []"]
        lines += [f"    plan.append({call_code(repr(tool), given)})" for tool, given in calls]
        return [[*lines, "    return plan"]]
    short = ", ".join(
        f"call({', '.join([repr(tool), *_keywords(given)])})" for tool, given in calls
    )
    if style == 2:
        call = "call = lambda tool, **given: {'name': tool, 'arguments': given}"
        return [["def solution(self):", f"    {call}", f"    return [{short}]"]]
    helper = ["def call(self, tool, **given):", "    return {'name': tool, 'arguments': given}"]
    return [["def solution(self):", f"    return [{short.replace('call(', 'self.call(')}]"], helper]


def call_code(tool: str, given: dict[str, str]) -> str:
    """Return the code of one call as a dictionary."""
    inside = ", ".join(f"'{key}': {value}" for key, value in given.items())
    return f"{{'name': {tool}, 'arguments': {{{inside}}}}}"


def _keywords(given: dict[str, str]) -> list[str]:
    return [f"{key}={value}" for key, value in given.items()]


_SPARE = (
    ("help", (), ["return 'ask for one thing at a time'"]),
    ("size", (), ["return f'{len(self.state)} parts'"]),
    ("log", (), ["self.count = getattr(self, 'count', 0) + 1", "return f'{self.count} lines'"]),
    (
        "find",
        ("name",),
        ["if name in str(self.state):", "    return 'known'", "return 'not known'"],
    ),
    ("keys", (), ["words = sorted(self.state)", "return ' '.join(words)"]),
    (
        "wait",
        ("hours",),
        [
            "for _ in range(min(hours, 9)):",
            "    self.now = getattr(self, 'now', 0) + 1",
            "return 'later'",
        ],
    ),
)

Spare = tuple[str, tuple[str, ...], list[str]]


def spare_tool(draw: Draw) -> list[Spare]:
    """Return at most one tool that does not help: (name, arguments, body)."""
    return [draw.pick.choice(_SPARE)] if draw.pick.random() < 0.75 else []


def spare_method(spare: Spare) -> list[str]:
    """Return the method of a spare tool."""
    name, arguments, body = spare
    kinds = {"name": "str", "hours": "int"}
    typed = "".join(f", {argument}: {kinds[argument]}" for argument in arguments)
    return [f"def tool_{name}(self{typed}) -> str:", *(f"    {line}" for line in body)]
