"""Families about numbers: sums in the right order, hidden scores, sequences, lists changed by a rule."""

from collections.abc import Callable
from itertools import pairwise
from random import Random

from solver.embedded.grammar.base import Draw, Program, join
from solver.embedded.grammar.frames import Puzzle, Question, framed


def calc(draw: Draw) -> Program:
    """Arithmetic with two operations; the hint gives the order of the steps."""
    low, mid = draw.knob(8, 12, 20, 36, 60), draw.knob(4, 5, 6, 8, 9)
    kind = draw.one("add", "last", "group", "two", "square", "chain")
    if kind == "chain":
        low = draw.knob(9, 14, 22, 36, 60)
    text, expr, hint = {
        "add": ("{a} + {b} * {c}", "a + b * c", "Multiply first, then add."),
        "last": ("{b} * {c} + {a}", "b * c + a", "Find the product, then add the rest to it."),
        "group": ("( {a} + {b} ) * {c}", "(a + b) * c", "Work inside the brackets first."),
        "two": ("{a} * {b} + {b} * {c}", "a * b + b * c", "Find both products, then add them."),
        "square": ("{b} * {b} + {a}", "b * b + a", "Square first, then add."),
        "chain": ("{a} + {b} + {c}", "a + b + c", "Add from left to right, one at a time."),
    }[kind]
    if kind in ("group", "two"):
        low = mid
    ask = draw.one("= ?", "is ?", "makes ?")
    place = draw.one("", f"{draw.topic} : ")
    body: tuple[str, ...]
    if draw.pick.random() < 0.5:
        body = (
            f"a, b = rng.randint(2, {low}), rng.randint(2, {mid})",
            f"c = rng.randint(2, {mid})",
        )
    else:
        body = (
            f"a = rng.randint(2, {low})",
            f"b, c = rng.randint(2, {mid}), rng.randint(2, {mid})",
        )
    value = draw.one(f"str({expr})", f"f'{{{expr}}}'")

    def make(rng: Random) -> Question:
        a, b, c = rng.randint(2, low), rng.randint(2, mid), rng.randint(2, mid)
        steps, answer = _calc_steps(kind, a, b, c)
        shown = text.format(a=a, b=b, c=c)
        return Question(f"{place}{shown} {ask}", str(answer), steps)

    title = draw.one("Work out the {} sum.", "Compute the {} number.", "Do the {} sums.")
    return framed(
        draw,
        Puzzle(
            "calc",
            "mathematical_reasoning",
            "Sum",
            title.format(draw.topic),
            hint,
            body,
            f"f'{place}{text} {ask}'",
            value,
            make,
        ),
    )


def _calc_steps(kind: str, a: int, b: int, c: int) -> tuple[str, int]:
    if kind in ("add", "last"):
        return f"{b} * {c} = {b * c} , {b * c} + {a} = {b * c + a}", a + b * c
    if kind == "group":
        return f"{a} + {b} = {a + b} , {a + b} * {c} = {(a + b) * c}", (a + b) * c
    if kind == "two":
        left, right = a * b, b * c
        return f"{a} * {b} = {left} , {b} * {c} = {right} , {left} + {right} = {left + right}", (
            left + right
        )
    if kind == "square":
        return f"{b} * {b} = {b * b} , {b * b} + {a} = {b * b + a}", b * b + a
    return f"{a} + {b} = {a + b} , {a + b} + {c} = {a + b + c}", a + b + c


_SCORES: dict[str, tuple[str, str, Callable[[list[int]], list[int]]]] = {
    "plain": ("sum(xs)", "Keep a running total.", lambda xs: xs),
    "double": ("2 * sum(xs)", "Every number counts twice.", lambda xs: [2 * x for x in xs]),
    "more": (
        "sum(x + 1 for x in xs)",
        "Every number counts one more than it shows.",
        lambda xs: [x + 1 for x in xs],
    ),
    "first": ("xs[0] + sum(xs)", "The first number counts twice.", lambda xs: [xs[0], *xs]),
    "last": ("sum(xs) + xs[-1]", "The last number counts twice.", lambda xs: [*xs, xs[-1]]),
    "best": ("sum(xs) + max(xs)", "The largest number counts twice.", lambda xs: [*xs, max(xs)]),
    "bonus": (
        "sum(xs) + len(xs)",
        "Each number brings one more point.",
        lambda xs: [x + 1 for x in xs],
    ),
    "odd": (
        "sum(x + x % 2 for x in xs)",
        "Odd numbers count one more.",
        lambda xs: [x + x % 2 for x in xs],
    ),
}


def total(draw: Draw) -> Program:
    """A score of a list by a rule that one example shows; the hint names the rule."""
    kind = draw.one(*_SCORES)
    expr, hint, parts = _SCORES[kind]
    count = (2, 3, 3, 4, 5)[draw.level - 1] + (kind == "plain")
    # Wide enough that one score in fifteen, at most, is that of another instance.
    width = (13, 9, 10, 9, 9)[draw.level - 1] + draw.numbers.randint(0, 3)
    word = draw.one("score", "value", "points")
    place = draw.one("", f"{draw.topic} ")
    style = draw.one("pair", "method")
    small = draw.numbers.choice((3, 4, 5))
    high = small + width
    body: tuple[str, ...] = (
        f"ys = [rng.randint(1, {small}) for _ in range(2)]",
        f"xs = [rng.randint({small + 1}, {high}) for _ in range({count})]",
        "show = ' '.join(map(str, ys))",
        "text = ' '.join(map(str, xs))",
    )
    if style == "pair":
        first = expr.replace("xs", "ys")
        fields: tuple[str, ...] = ()
        shown, value = f"{{{first}}}", f"str({expr})"
    else:
        fields = (f"score = staticmethod(lambda xs: {expr})",)
        shown, value = "{self.score(ys)}", "str(self.score(xs))"

    def make(rng: Random) -> Question:
        ys = [rng.randint(1, small) for _ in range(2)]
        xs = [rng.randint(small + 1, high) for _ in range(count)]
        items = parts(xs)
        run = [sum(items[: i + 1]) for i in range(len(items))]
        text = f"{place}{word} {join(ys)} = {sum(parts(ys))} , {join(xs)} = ?"
        return Question(text, str(run[-1]), f"{kind} {join(items)} , {join(run)}")

    title = draw.one("Score the {} list.", "Find the {} score.", "What is the {} list worth?")
    return framed(
        draw,
        Puzzle(
            "total",
            "mathematical_reasoning",
            "Score",
            title.format(draw.topic),
            hint,
            body,
            f"f'{place}{word} {{show}} = {shown} , {{text}} = ?'",
            value,
            make,
            fields,
            rounds=False,
        ),
    )


def sequence(draw: Draw) -> Program:
    """The next two terms of a sequence; the hint names how it grows."""
    kind = draw.one("even", "grow", "double", "back", "zigzag", "square")
    start, gap = draw.knob(6, 9, 15, 30, 50), draw.knob(4, 5, 6, 8, 9)
    shown = 4 if kind in ("even", "double") else 5
    step = draw.numbers.choice((1, 2, 3))
    words = {1: "one", 2: "two", 3: "three"}
    if kind == "double":
        start, gap = min(start, draw.knob(5, 5, 6, 7, 8)), 3
    if kind == "back":
        start = min(start, 9)
    if kind == "square":
        start += 10
    count = shown + 2
    expr, hint = {
        "even": ("xs.append(xs[-1] + k)", "The gap stays the same."),
        "grow": (f"xs.append(xs[-1] + k + {step} * i)", f"Each gap grows by {words[step]}."),
        "double": ("xs.append(2 * xs[-1] + k)", "Double the last term, then add the same again."),
        "back": ("xs.append(xs[-1] + xs[-2])", "Each term is the sum of the two before it."),
        "zigzag": (f"xs.append(xs[-1] + (k if i % 2 else {step}))", "Two gaps take turns."),
        "square": ("xs.append(xs[0] + i * i)", "The gaps are the odd numbers in order."),
    }[kind]
    loop = {"back": f"range({count - 2})", "square": f"range(1, {count})"}.get(
        kind, f"range({count - 1})"
    )
    body = [f"xs = [rng.randint(1, {start})]"]
    if kind == "back":
        body = [f"xs = [rng.randint(1, {start}), rng.randint(2, {start + 2})]"]
    if kind in ("even", "grow", "double", "zigzag"):
        body.append(f"k = rng.randint(2, {gap + 2})")
    name = "_" if kind in ("even", "double", "back") else "i"
    body += [f"for {name} in {loop}:", f"    {expr}"]
    ask = draw.one("next", "terms", f"{draw.topic} numbers")
    text = draw.one(
        f"'{ask} ' + ' '.join(map(str, xs[:{shown}])) + ' ? ?'",
        f"' '.join(['{ask}', *map(str, xs[:-2]), '? ?'])",
    )
    value = draw.one(f"' '.join(map(str, xs[{shown}:]))", "f'{xs[-2]} {xs[-1]}'")

    def make(rng: Random) -> Question:
        xs = [rng.randint(1, start)]
        k = 0
        if kind == "back":
            xs.append(rng.randint(2, start + 2))
        if kind in ("even", "grow", "double", "zigzag"):
            k = rng.randint(2, gap + 2)
        for i in range(count - len(xs)):
            last = xs[-1]
            rules = {
                "even": last + k,
                "grow": last + k + step * i,
                "double": 2 * last + k,
                "back": last + xs[-2] if len(xs) > 1 else 0,
                "zigzag": last + (k if i % 2 else step),
                "square": xs[0] + (i + 1) ** 2,
            }
            xs.append(rules[kind])
        gaps = [y - x for x, y in pairwise(xs)]
        steps = [f"{xs[i - 1]} + {gaps[i - 1]} = {xs[i]}" for i in (shown, shown + 1)]
        scratch = f"gaps {join(gaps[: shown - 1])} , {' , '.join(steps)}"
        return Question(f"{ask} {join(xs[:shown])} ? ?", join(xs[shown:]), scratch)

    title = draw.one("Continue the {} numbers.", "Which {} terms come next?", "Extend the {} row.")
    return framed(
        draw,
        Puzzle(
            "sequence",
            "pattern_recognition",
            "Sequence",
            title.format(draw.topic),
            hint,
            tuple(body),
            text,
            value,
            make,
        ),
    )


def lists(draw: Draw) -> Program:
    """A list changed by a rule that one example shows; the hint names the rule."""
    kind = draw.one("double", "plus", "mirror", "rise", "fall", "running", "turn", "ends")
    count = (3, 3, 4, 5, 6)[draw.level - 1]
    add = draw.numbers.randint(2, 4 + draw.level)
    words = ("two", "three", "four", "five", "six", "seven", "eight", "nine")
    rules: dict[str, tuple[str, str, Callable[[list[int]], list[int]]]] = {
        "double": ("[2 * x for x in xs]", "Double every number.", lambda xs: [2 * x for x in xs]),
        "plus": (
            f"[x + {add} for x in xs]",
            f"Add {words[add - 2]} to every number.",
            lambda xs: [x + add for x in xs],
        ),
        "mirror": (
            "[9 - x for x in xs]",
            "Take every number away from nine.",
            lambda xs: [9 - x for x in xs],
        ),
        "rise": ("sorted(xs)", "Put them in rising order.", sorted),
        "fall": (
            "sorted(xs)[::-1]",
            "Put them in falling order.",
            lambda xs: sorted(xs, reverse=True),
        ),
        "running": (
            "[sum(xs[:i + 1]) for i in range(len(xs))]",
            "Each number is added to the total before it.",
            lambda xs: [sum(xs[: i + 1]) for i in range(len(xs))],
        ),
        "turn": (
            "xs[1:] + xs[:1]",
            "The first number moves to the end.",
            lambda xs: xs[1:] + xs[:1],
        ),
        "ends": (
            "[xs[-1]] + xs[1:-1] + [xs[0]]",
            "The two ends change places.",
            lambda xs: [xs[-1], *xs[1:-1], xs[0]],
        ),
    }
    code, hint, rule = rules[kind]
    arrow = draw.one("->", "gives", "becomes")
    place = draw.one("", f"{draw.topic} ")

    def sample(rng: Random, size: int) -> list[int]:
        xs = rng.sample(range(1, 9), size)
        while xs in (sorted(xs), sorted(xs, reverse=True)):
            rng.shuffle(xs)
        return xs

    def make(rng: Random) -> Question:
        pair = [sample(rng, 3), sample(rng, count)]
        ys, xs = pair
        after = rule(xs)
        text = f"{place}{join(ys)} {arrow} {join(rule(ys))} , {join(xs)} {arrow} ?"
        return Question(text, join(after), f"{kind} {join(xs)}")

    fields: tuple[str, ...] = (
        "def pick(self, rng, size):",
        "    xs = rng.sample(range(1, 9), size)",
        "    while xs in (sorted(xs), sorted(xs)[::-1]):",
        "        rng.shuffle(xs)",
        "    return xs",
        "",
        "def rule(self, xs):",
        f"    return {code}",
    )
    body = (
        f"ys, xs = self.pick(rng, 3), self.pick(rng, {count})",
        "rows = [ys, self.rule(ys), xs, self.rule(xs)]",
        "a, b, c, answer = [' '.join(map(str, row)) for row in rows]",
    )
    title = draw.one("Find the {} rule.", "Change the {} list.", "Apply the {} rule.")
    return framed(
        draw,
        Puzzle(
            "lists",
            "pattern_recognition",
            "Rule",
            title.format(draw.topic),
            hint,
            body,
            f"f'{place}{{a}} {arrow} {{b}} , {{c}} {arrow} ?'",
            "answer",
            make,
            tuple(fields),
            rounds=False,
        ),
    )
