"""Families about putting things in order: from clues, for least waiting, from largest coin to smallest."""

from random import Random

from solver.embedded.grammar.base import Draw, Program, join
from solver.embedded.grammar.frames import Puzzle, Question, framed


def schedule(draw: Draw) -> Program:
    """Jobs to be ordered for the best total; the hint names what to sort by."""
    count = (3, 3, 4, 5, 6)[draw.level - 1]
    names = draw.words[: max(count, 4) + draw.pick.randint(0, 1)]
    top = draw.knob(9, 9, 12, 20, 40)
    kind = draw.one("short", "long", "pair")
    goal, hint = {
        "short": ("least waiting", "Do the shortest job first."),
        "long": ("most value early", "Take the most valuable one first."),
        "pair": ("best rate", "Sort by gain less cost, best first."),
    }[kind]
    goal = draw.one(goal, "best order", f"{draw.topic} order")
    body = [f"w = rng.sample(self.names, {count})"]
    if kind == "pair":
        top = max(top, count + 2)
        body += [
            f"gap = rng.sample(range(1, {top}), {count})",
            f"cost = [rng.randint(1, 9) for _ in range({count})]",
            "rows = sorted(zip(gap, w, cost))[::-1]",
            "shown = [f'{x} {k + c} {c}' for k, x, c in zip(gap, w, cost)]",
        ]
        value = "' '.join(x for _, x, _ in rows)"
    else:
        turn = "[::-1]" if kind == "long" else ""
        body += [
            f"ts = rng.sample(range(1, {top + 1}), {count})",
            draw.one(
                f"best = [x for _, x in sorted(zip(ts, w)){turn}]",
                f"best = sorted(w, key=lambda x: ts[w.index(x)]){turn}",
            ),
            "shown = [f'{x} {t}' for x, t in zip(w, ts)]",
        ]
        value = "' '.join(best)"

    def make(rng: Random) -> Question:
        w = rng.sample(list(names), count)
        if kind == "pair":
            gap = rng.sample(range(1, top), count)
            cost = [rng.randint(1, 9) for _ in range(count)]
            rows = sorted(zip(gap, w, strict=True), reverse=True)
            shown = [f"{x} {k + c} {c}" for k, x, c in zip(gap, w, cost, strict=True)]
            scratch = "rate " + join(gap)
        else:
            gap = rng.sample(range(1, top + 1), count)
            rows = sorted(zip(gap, w, strict=True), reverse=kind == "long")
            shown = [f"{x} {t}" for x, t in zip(w, gap, strict=True)]
            scratch = f"{kind} " + join(t for t, _ in rows)
        return Question(f"{goal} : {' , '.join(shown)}", join(x for _, x in rows), scratch)

    title = draw.one("Plan the {} jobs.", "Find the best {} order.", "Sort the {} work.")
    return framed(
        draw,
        Puzzle(
            "schedule",
            "optimisation",
            "Plan",
            title.format(draw.topic),
            hint,
            tuple(body),
            f"'{goal} : ' + ' , '.join(shown)",
            value,
            make,
            (f"names = '{' '.join(names)}'.split()",),
        ),
    )


def coins(draw: Draw) -> Program:
    """An amount to be paid with few pieces; the hint is the greedy method."""
    ladders = (
        (1, 3, 9),
        (1, 2, 6),
        (1, 4, 8),
        (1, 5, 10),
        (1, 2, 4),
        (1, 3, 6),
        (1, 6, 12),
        (1, 4, 12),
    )
    sizes = list(draw.numbers.choice(ladders))
    if draw.level > 3:
        sizes.append(sizes[-1] * draw.numbers.choice((2, 3)))
    low = sizes[-1] + 1
    high = low + draw.knob(14, 16, 18, 22, 28)
    word = draw.one("pay", "fill", "weigh", "cut")
    pieces = draw.one("coins", "sizes", draw.topic)
    small = draw.pick.random() < 0.3
    hint = draw.one(
        "Take the largest piece that fits, again and again.",
        "Use the largest as often as it fits, then the next.",
    )
    if small:
        hint = "Take the largest that fits each time, then say them from small to large."
    # Listed the other way round than the answer, so that no answer stands in the question.
    listed = join(sizes[::-1] if small else sizes)
    falling = "(" + ", ".join(map(str, sizes[::-1])) + ")"
    body = [
        f"left = rng.randint({low}, {high})",
        f"text = f'{word} {{left}} with {pieces} {listed}'",
        "use = []",
    ]
    body += [f"for c in {falling}:"]
    if draw.pick.random() < 0.5:
        body += ["    use += [c] * (left // c)", "    left %= c"]
    else:
        body += ["    while left >= c:", "        use.append(c)", "        left -= c"]
    ask = draw.one("", " , few pieces", " , fewest")

    def make(rng: Random) -> Question:
        left = rng.randint(low, high)
        text = f"{word} {left} with {pieces} {listed}{ask}"
        use: list[int] = []
        steps = [str(left)]
        for size in sizes[::-1]:
            while left >= size:
                use.append(size)
                left -= size
                steps.append(f"- {size} = {left}")
        return Question(text, join(use[::-1] if small else use), " ".join(steps))

    title = draw.one("Pay the {} price.", "Use few {} pieces.", "Make the {} amount.")
    return framed(
        draw,
        Puzzle(
            "coins",
            "optimisation",
            "Coins",
            title.format(draw.topic),
            hint,
            tuple(body),
            f"text + '{ask}'" if ask else "text",
            "' '.join(map(str, use[::-1]))" if small else "' '.join(map(str, use))",
            make,
        ),
    )
