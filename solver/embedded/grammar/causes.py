"""Families about causes: a machine to be understood, and rows of causes and effects."""

from random import Random

from solver.embedded.grammar.base import NUMBERS, Ask, Demo, Draw, Program, Say, Turn, boxed
from solver.embedded.grammar.shapes import Layout, reading


def machine(draw: Draw) -> Program:
    """A machine with a hidden rule; each miss shows one more of its results. The hint names the rule."""
    times = draw.numbers.choice((2, 2, 3, 4) if draw.level < 3 else (2, 3, 4, 5))
    plus = draw.numbers.randint(2 if times == 1 else 0, (3, 4, 6, 8, 9)[draw.level - 1])
    square = draw.level > 2 and draw.pick.random() < 0.2
    most = (8, 9, 10, 12, 14)[draw.level - 1]
    tries = draw.numbers.choice((2, 3))
    by = {1: "", 2: "Double", 3: "Triple", 4: "Four times", 5: "Five times"}[times]
    add = f"add {NUMBERS[plus]}" if plus else ""
    if square:
        hint = f"Multiply the {{}} by itself, then {add}." if plus else "Multiply the {} by itself."
    elif times == 1:
        hint = f"A{add[1:]} to the {{}}."
    else:
        hint = f"{by} the {{}}" + (f", then {add}." if plus else ".")
    dial = draw.one("dial", "lever", "wheel")
    hint = hint.replace("{}", dial)
    shows = draw.one("shows", "gives", "->")
    value = "x * x" if square else (f"{times} * x" if times > 1 else "x")
    value += f" + {plus}" if plus else ""
    head = draw.one("", f"{draw.topic} : ")
    data_style = draw.pick.randrange(3)
    reset = [
        "rng = random.Random(seed)",
        *(
            [f"xs = sorted(rng.sample(range(2, {most + 1}), {2 * tries}))"],
            [
                f"xs = list(range(2, {most + 1}))",
                "rng.shuffle(xs)",
                f"xs = sorted(xs[:{2 * tries}])",
            ],
            [
                "xs = set()",
                f"while len(xs) < {2 * tries}:",
                f"    xs.add(rng.randint(2, {most}))",
                "xs = sorted(xs)",
            ],
        )[data_style],
    ]
    pairs = draw.pick.random() < 0.5
    if pairs:
        reset += [f"self.asks = list(zip(xs, xs[::-1]))[:{tries}]"]
        asked = "self.asks[self.at][1]"
        look = ["x, y = self.asks[self.at]"]
        first = "self.asks[0][1]"
    else:
        reset += ["self.xs = xs"]
        asked, first = "self.xs[-1 - self.at]", "self.xs[-1]"
        look = ["x, y = self.xs[self.at], self.xs[-1 - self.at]"]
    reset += [
        "self.at = 0",
        f"return '{head}' + self.look(), {{}}" if head else "return self.look(), {}",
    ]
    look += draw.pick.choice(
        (
            [f"return f'{dial} {{x}} {shows} {{self.rule(x)}} , {dial} {{y}} {shows} ?'"],
            [
                f"shown = f'{dial} {{x}} {shows} {{self.rule(x)}}'",
                f"return shown + f' , {dial} {{y}} {shows} ?'",
            ],
            [
                f"rows = [f'{dial} {{x}} {shows} {{self.rule(x)}}', f'{dial} {{y}} {shows} ?']",
                "return ' , '.join(rows)",
            ],
        )
    )
    read, more = reading(draw)
    step = [read]
    step += draw.pick.choice(
        (
            [
                f"if guess == str(self.rule({asked})):",
                "    return 'yes', 1.0, True, False, {}",
                "self.at += 1",
                f"if self.at == {tries}:",
                "    return 'no', 0.0, True, False, {}",
                "return 'no ' + self.look(), 0.0, False, False, {}",
            ],
            [
                f"win = guess == str(self.rule({asked}))",
                "self.at += 1",
                f"over = win or self.at == {tries}",
                "text = 'done' if over else 'no ' + self.look()",
                "return text, float(win), over, False, {}",
            ],
            [
                f"want = self.rule({asked})",
                "self.at += 1",
                "if guess == f'{want}':",
                "    return 'right', 1.0, True, False, {}",
                f"more = self.at < {tries}",
                "return 'no ' + self.look() if more else 'no', 0.0, not more, False, {}",
            ],
        )
    )
    rule = draw.pick.choice(([f"return {value}"], [f"y = {value}", "return y"]))
    if not square and times > 1 and draw.pick.random() < 0.4:
        rule = [f"y = {plus}", f"for _ in range({times}):", "    y += x", "return y"]
    if draw.pick.random() < 0.3:
        solution = [f"x = {first}", "return [str(self.rule(x))]"]
    else:
        solution = [
            draw.one(f"return [str(self.rule({first}))]", f"return str(self.rule({first}))")
        ]
    more = [
        ["def rule(self, x):", *(f"    {line}" for line in rule)],
        ["def look(self):", *(f"    {line}" for line in look)],
        *more,
    ]
    title = draw.one("Understand the {} machine.", "What does the {} do?", "Predict the {} dial.")
    title = title.replace("{}", draw.topic)
    source = Layout("Machine", title, reset, step, solution, (), more).source(draw)

    def steps(x: int, k: int, c: int) -> tuple[str, int]:
        base = x * x if square else k * x
        shown = f"{k if not square else x} * {x} = {base}"
        return f"{shown} + {c} = {base + c}" if c else shown, base + c

    def play(ask: Ask) -> Demo:
        # The first answer is larger than any number that is shown later, so none gives it away.
        xs = _inputs(Random(ask.seed), data_style, most, 2 * tries)
        turns: list[Turn] = []
        seen = head
        for at in range(tries):
            x, y = xs[at], xs[-1 - at]
            fx, fy = steps(x, times, plus)[1], steps(y, times, plus)[1]
            seen += f"{dial} {x} {shows} {fx} , {dial} {y} {shows} ?"
            careful = ask.careful or (at > 0 and ask.rng.random() < 0.1)
            k, c = times, plus
            if not ask.hinted and not (at > 0 and careful) and not square:
                # One example leaves several rules open; the player takes one of them.
                k = ask.rng.choice([k for k in range(1, 6) if 0 <= fx - k * x <= 9])
                c = fx - k * x
            scratch, reply = steps(y, k, c)
            if not careful and ask.rng.random() < 0.75:
                reply += ask.rng.choice((-2, -1, 1, 2))
            turns.append(Turn((Say("user", seen),), boxed(str(reply), scratch if careful else "")))
            if reply == fy:
                return Demo(ask.seed, tuple(turns), True)
            seen = "no "
        return Demo(ask.seed, tuple(turns), False)

    return Program("game", "causal_inference", "machine", draw.level, title, source, hint, (), play)


def _inputs(rng: Random, style: int, most: int, many: int) -> list[int]:
    """Draw the machine's inputs as the program does."""
    if style == 0:
        return sorted(rng.sample(range(2, most + 1), many))
    if style == 1:
        xs = list(range(2, most + 1))
        rng.shuffle(xs)
        return sorted(xs[:many])
    found: set[int] = set()
    while len(found) < many:
        found.add(rng.randint(2, most))
    return sorted(found)
