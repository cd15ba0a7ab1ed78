"""Families about letters and sentences whose hidden rule one example shows."""

from collections.abc import Callable
from random import Random

from solver.embedded.grammar.base import Draw, Program, join
from solver.embedded.grammar.frames import Puzzle, Question, framed

Rule = Callable[[list[str]], list[str]]

_LETTERS: dict[str, tuple[str, str, Rule]] = {
    "reverse": ("x[::-1]", "Read the letters backwards.", lambda x: x[::-1]),
    "rotate": ("x[1:] + x[:1]", "The first letter goes to the end.", lambda x: x[1:] + x[:1]),
    "back": ("x[-1:] + x[:-1]", "The last letter comes to the front.", lambda x: x[-1:] + x[:-1]),
    "ends": (
        "x[-1:] + x[1:-1] + x[:1]",
        "The two ends change places.",
        lambda x: x[-1:] + x[1:-1] + x[:1],
    ),
    "twice": ("x[:1] + x", "The first letter is said twice.", lambda x: x[:1] + x),
    "tail": ("x + x[-1:]", "The last letter is said twice.", lambda x: x + x[-1:]),
    "sort": ("sorted(x)", "Put the letters in the order of the alphabet.", sorted),
    "swap": (
        "x[1::-1] + x[2:]",
        "The first two letters change places.",
        lambda x: x[1::-1] + x[2:],
    ),
}


def letters(draw: Draw) -> Program:
    """Letters changed by a hidden rule."""
    kind = draw.one(*_LETTERS)
    code, hint, rule = _LETTERS[kind]
    count = (3, 4, 4, 5, 6)[draw.level - 1]
    show = draw.numbers.choice((3, 3, 4))
    pool = "abcdefghijklmnop"[: draw.numbers.randint(count + show + 1, 16)]
    # No letter of the pool may begin the word that follows the letters.
    arrow = draw.one("->", "=>", "to")
    place = draw.one("", f"{draw.topic} : ")
    sort = kind == "sort"
    body = [f"w = rng.sample('{pool}', {count + show})", f"x, y = w[:{count}], w[{count}:]"]
    if sort:
        body = [
            f"w = sorted(rng.sample('{pool}', {count + show}))",
            f"x, y = w[{count - 1}::-1], w[:{count - 1}:-1]",
        ]
    if draw.pick.random() < 0.5:
        body += [f"z = {code.replace('x', 'y')}", f"x, y, z, w = map(' '.join, (x, y, z, {code}))"]
        value, text = "w", f"f'{place}{{y}} {arrow} {{z}} , {{x}} {arrow} ?'"
        fields: tuple[str, ...] = ()
    else:
        fields = ("def turn(self, x):", f"    return ' '.join({code})")
        value = "self.turn(x)"
        text = f"f'{place}{{first}} {arrow} {{self.turn(y)}} , {{shown}} {arrow} ?'"
        body += ["first, shown = ' '.join(y), ' '.join(x)"]

    def make(rng: Random) -> Question:
        w = rng.sample(pool, count + show)
        x, y = w[:count], w[count:]
        if sort:
            w = sorted(w)
            x, y = w[count - 1 :: -1], w[: count - 1 : -1]
        text = f"{place}{join(y)} {arrow} {join(rule(y))} , {join(x)} {arrow} ?"
        return Question(text, join(rule(x)), f"{kind} {join(x)}")

    title = draw.one("Speak the {} language.", "Read the {} code.", "Decode the {} letters.")
    return framed(
        draw,
        Puzzle(
            "letters",
            "language_understanding",
            "Letters",
            title.format(draw.topic),
            hint,
            tuple(body),
            text,
            value,
            make,
            fields,
            rounds=False,
        ),
    )
