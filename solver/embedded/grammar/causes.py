"""Families about causes: a machine to be understood, and rows of causes and effects."""

from random import Random

from solver.embedded.grammar.base import NUMBERS, Ask, Demo, Draw, Program, Say, Turn, boxed
from solver.embedded.grammar.shapes import Layout, reading


def machine(draw: Draw) -> Program:
    """A machine with a hidden rule; each miss shows one more of its results. The hint names the rule."""
    times = draw.numbers.choice((2, 2, 3, 4) if draw.level < 3 else (2, 3, 4, 5))
    plus = draw.numbers.randint(0, (3, 4, 6, 8, 9)[draw.level - 1])
    # All that is shown after the first answer is smaller than it, so nothing gives it away.
    low = (14, 15, 16, 18, 20)[draw.level - 1] + draw.numbers.randint(0, 2)
    span = f"{low}, {2 * low}"
    tries = draw.numbers.choice((2, 3))
    by = {2: "Double", 3: "Triple", 4: "Four times", 5: "Five times"}[times]
    hint = f"{by} the {{}}" + (f", then add {NUMBERS[plus]}." if plus else ".")
    dial = draw.one("dial", "lever", "wheel")
    hint = hint.replace("{}", dial)
    shows = draw.one("shows", "gives", "->")
    value = f"{times} * x" + (f" + {plus}" if plus else "")
    head = draw.one("", f"{draw.topic} : ")
    data_style = draw.pick.randrange(3)
    reset = [
        "rng = random.Random(seed)",
        *(
            [
                f"self.xs = rng.sample(range(2, 10), {tries})",
                f"self.ys = rng.sample(range({span}), {tries})",
            ],
            [
                f"self.xs, self.ys = list(range(2, 10)), list(range({span}))",
                "rng.shuffle(self.xs)",
                "rng.shuffle(self.ys)",
            ],
            [
                "self.xs = []",
                f"self.ys = rng.sample(range({span}), {tries})",
                "for y in self.ys:",
                "    self.xs.append(rng.randint(2, 9))",
            ],
        )[data_style],
        "self.at = 0",
        f"return '{head}' + self.look(), {{}}" if head else "return self.look(), {}",
    ]
    asked, first = "self.ys[self.at]", "self.ys[0]"
    look = ["x, y = self.xs[self.at], self.ys[self.at]"]
    if draw.pick.random() < 0.5:
        look = ["x = self.xs[self.at]", "y = self.ys[self.at]"]
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
    if draw.pick.random() < 0.4:
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
        shown = f"{k} * {x} = {k * x}"
        return f"{shown} , {k * x} + {c} = {k * x + c}" if c else shown, k * x + c

    def play(ask: Ask) -> Demo:
        xs, ys = _inputs(Random(ask.seed), data_style, low, tries)
        turns: list[Turn] = []
        seen = head
        for at in range(tries):
            x, y = xs[at], ys[at]
            fx, fy = steps(x, times, plus)[1], steps(y, times, plus)[1]
            seen += f"{dial} {x} {shows} {fx} , {dial} {y} {shows} ?"
            careful = ask.careful or (at > 0 and ask.rng.random() < 0.1)
            k, c = times, plus
            if not ask.hinted and not (at > 0 and careful):
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


def _inputs(rng: Random, style: int, low: int, many: int) -> tuple[list[int], list[int]]:
    """Draw the machine's inputs as the program does: those that are shown, and those that are asked."""
    if style == 0:
        return rng.sample(range(2, 10), many), rng.sample(range(low, 2 * low), many)
    if style == 1:
        xs, ys = list(range(2, 10)), list(range(low, 2 * low))
        rng.shuffle(xs)
        rng.shuffle(ys)
        return xs[:many], ys[:many]
    ys = rng.sample(range(low, 2 * low), many)
    return [rng.randint(2, 9) for _ in ys], ys
