"""Games played over several turns: taking from a pile, and guessing a hidden number."""

from random import Random

from solver.embedded.grammar.base import NUMBERS, Ask, Demo, Draw, Program, Say, Turn, boxed
from solver.embedded.grammar.shapes import Layout, reading, tail_of


def nim(draw: Draw) -> Program:
    """Take one to k; whoever takes the last wins. The hint is the number to leave."""
    most = draw.numbers.choice((3, 4)) if draw.level < 4 else draw.numbers.choice((3, 4, 5))
    unit = most + 1
    # Enough moves that luck alone wins less than one play in two hundred.
    rounds = (5, 5, 5, 6, 7)[draw.level - 1] + (most == 3)
    low = unit * (rounds - 1) + 1
    high = low + unit * draw.numbers.choice((1, 2, 3))
    thing = draw.one("stones", "left", draw.topic)
    hint = draw.one(
        f"Leave a multiple of {NUMBERS[unit]} each time.",
        f"Bring the pile to a multiple of {NUMBERS[unit]}.",
    )
    takes = " ".join(map(str, range(1, unit)))
    start = draw.pick.randrange(3)
    reset = [
        "rng = random.Random(seed)",
        *(
            [
                f"self.pile = rng.randint({low}, {high})",
                f"while self.pile % {unit} == 0:",
                f"    self.pile = rng.randint({low}, {high})",
            ],
            [
                f"piles = [n for n in range({low}, {high + 1}) if n % {unit}]",
                "self.pile = rng.choice(piles)",
            ],
            [
                f"self.pile = {unit} * rng.randint({low // unit}, {high // unit})",
                f"self.pile += rng.randint(1, {most})",
            ],
        )[start],
        f"return f'{thing} {{self.pile}} take {takes}', {{}}",
    ]
    read, reader = reading(draw)
    step = [read]
    fields: tuple[str, ...] = ()
    check = draw.pick.randrange(4)
    if check == 0:
        valid = "('" + "', '".join(map(str, range(1, unit))) + "')"
        step += [f"if guess not in {valid}:", "    return 'not a move', 0.0, True, False, {}"]
    elif check == 1:
        step += [f"if guess not in '{takes}'.split():", "    return 'lost', 0.0, True, False, {}"]
    elif check == 2:
        fields = (f"moves = {{str(n): n for n in range(1, {unit})}}",)
        step += ["if guess not in self.moves:", "    return 'not a move', 0.0, True, False, {}"]
    else:
        step += [
            f"legal = [str(n) for n in range(1, {unit}) if n <= self.pile]",
            "if guess not in legal:",
            "    return 'not a move', 0.0, True, False, {}",
        ]
    step += draw.pick.choice(
        (
            [
                "self.pile -= int(guess)",
                "if self.pile < 1:",
                "    return 'you win', float(self.pile == 0), True, False, {}",
            ],
            [
                "left = self.pile - int(guess)",
                "if left <= 0:",
                "    return 'the end', 1.0 if left == 0 else 0.0, True, False, {}",
                "self.pile = left",
            ],
        )
    )
    answer = draw.one(f"self.pile % {unit} or 1 + self.pile % {most}", "self.reply(self.pile)")
    step += [f"take = {answer}", "self.pile -= take"]
    if draw.pick.random() < 0.5:
        step += [
            "if self.pile < 1:",
            "    return 'you lose', 0.0, True, False, {}",
            f"return f'I take {{take}} {thing} {{self.pile}}', 0.0, False, False, {{}}",
        ]
    else:
        step += [
            f"return f'I take {{take}} {thing} {{self.pile}}', 0.0, self.pile < 1, False, {{}}"
        ]
    more = [*reader]
    rest = f"pile -= pile % {unit} + 1 + (pile - pile % {unit}) % {most}"
    if "reply" in answer:
        more.append(["def reply(self, pile):", f"    return pile % {unit} or 1 + pile % {most}"])
        rest = f"pile -= pile % {unit} + self.reply(pile - pile % {unit})"
    solution = draw.pick.choice(
        (
            [
                "plan, pile = [], self.pile",
                "while pile > 0:",
                f"    plan.append(str(pile % {unit}))",
                f"    {rest}",
                "return plan",
            ],
            [
                "plan = []",
                "pile = self.pile",
                "for _ in range(pile):",
                f"    take = pile % {unit}",
                "    plan.append(str(take))",
                f"    {rest}",
                "    if pile < 1:",
                "        break",
                "return plan",
            ],
        )
    )
    title = draw.one("Take the last of the {} .", "Win the {} pile.", "Empty the {} .").replace(
        " .", "."
    )
    title = title.replace("{}", draw.topic)
    source = Layout("Pile", title, reset, step, solution, fields, more).source(draw)

    def play(ask: Ask) -> Demo:
        rng = Random(ask.seed)
        if start == 0:
            pile = rng.randint(low, high)
            while pile % unit == 0:
                pile = rng.randint(low, high)
        elif start == 1:
            pile = rng.choice([n for n in range(low, high + 1) if n % unit])
        else:
            pile = unit * rng.randint(low // unit, high // unit)
            pile += rng.randint(1, most)
        seen = f"{thing} {pile} take {takes}"
        turns: list[Turn] = []
        while True:
            best = pile % unit or ask.rng.randint(1, most)
            take = best
            if not ask.careful and ask.rng.random() < 0.4:
                take = ask.rng.randint(1, most)
            scratch = f"{pile} leave {pile - take}" if ask.careful else ""
            turns.append(Turn((Say("user", seen),), boxed(str(take), scratch)))
            pile -= take
            if pile < 1:
                return Demo(ask.seed, tuple(turns), pile == 0)
            reply = pile % unit or 1 + pile % most
            pile -= reply
            if pile < 1:
                return Demo(ask.seed, tuple(turns), False)
            seen = f"I take {reply} {thing} {pile}"

    return Program("game", "strategic_planning", "nim", draw.level, title, source, hint, (), play)


def guess(draw: Draw) -> Program:
    """A hidden number with higher and lower; the hint tells what kind of number it is."""
    unit = draw.numbers.choice((4, 5, 6))
    # Two digits only: a shorter answer could stand inside a longer end of the range.
    most = min(draw.knob(15, 16, 17, 19, 22), 90 // unit)
    # The end of the range must not be a number that can be right.
    top = unit * most + draw.numbers.randint(1, unit - 1)
    shift = draw.numbers.choice((0, 0, 1, 2))
    depth = max(1, (most).bit_length())
    tries = depth + draw.numbers.choice((0, 1))
    hint = draw.one(
        f"It is a multiple of {NUMBERS[unit]}.", f"Only multiples of {NUMBERS[unit]} can be right."
    )
    if shift:
        hint = f"It is {NUMBERS[shift]} more than a multiple of {NUMBERS[unit]}."
        top = max(top, unit * most + shift + 1)
    plus = f" + {shift}" if shift else ""
    head = draw.one("guess", f"the {draw.topic} number", "number")
    high, low = draw.pick.choice((("higher", "lower"), ("too low", "too high"), ("more", "less")))
    miss = draw.one(
        "text",
        f"'{high}' if v < self.goal else '{low}'",
        f"('{high}', '{low}')[v > self.goal]",
        "self.compare(v)",
    )
    tail = tail_of(draw, "v == self.goal", "'yes'", f"({miss})" if " if " in miss else miss, tries)
    goal_style = draw.pick.randrange(4)
    goal = (
        [f"self.goal = {unit} * rng.randint(2, {most}){plus}"],
        [f"self.goal = rng.randrange({2 * unit + shift}, {unit * most + shift + 1}, {unit})"],
        [
            f"goals = [n for n in range({2 * unit}, {unit * most + shift + 1}) if n % {unit} == {shift}]",
            "self.goal = rng.choice(goals)",
        ],
        [
            f"steps = rng.randint(2, {most})",
            f"self.goal = {shift}",
            "for _ in range(steps):",
            f"    self.goal += {unit}",
        ],
    )[goal_style]
    reset = ["rng = random.Random(seed)", *goal, *tail.setup, f"return '{head} 1 to {top}', {{}}"]
    read, more = reading(draw)
    step = [read]
    style = draw.one("digit", "set", "branch")
    if style == "digit":
        step += ["v = int(guess) if guess.isdecimal() and len(guess) < 4 else 0"]
    elif style == "set":
        step += [f"v = int(guess) if guess in map(str, range({top + 1})) else 0"]
    else:
        step += [
            f"if guess not in [str(n) for n in range(1, {top + 1})]:",
            "    return 'not in the range', 0.0, True, False, {}",
            "v = int(guess)",
        ]
    if miss == "text":
        step += [f"text = '{high}' if v < self.goal else '{low}'"]
    if miss.startswith("self."):
        more = [
            *more,
            [
                "def compare(self, v):",
                "    if v < self.goal:",
                f"        return '{high}'",
                f"    return '{low}'",
            ],
        ]
    step += tail.lines
    solution = draw.pick.choice(
        (
            ["return [str(self.goal)]"],
            ["return str(self.goal)"],
            ["answer = f'{self.goal}'", "return [answer]"],
        )
    )
    title = draw.one(
        "Guess the {} number.", "Find the hidden {} .", "What is the {} number?"
    ).replace(" .", ".")
    title = title.replace("{}", draw.topic)
    source = Layout("Guess", title, reset, step, solution, (), more).source(draw)

    def play(ask: Ask) -> Demo:
        rng = Random(ask.seed)
        if goal_style == 1:
            goal = rng.randrange(2 * unit + shift, unit * most + shift + 1, unit)
        elif goal_style == 2:
            goal = rng.choice(
                [n for n in range(2 * unit, unit * most + shift + 1) if n % unit == shift]
            )
        else:
            goal = unit * rng.randint(2, most) + shift
        seen = f"{head} 1 to {top}"
        turns: list[Turn] = []
        # The player that knows the kind of number halves the list of those, others the whole range.
        first, last = (2, most) if ask.hinted else (1, top)
        for _ in range(tries):
            middle = (first + last) // 2
            if not ask.careful and ask.rng.random() < 0.5:
                middle = ask.rng.randint(first, last)
            value = unit * middle + shift if ask.hinted else middle
            scratch = f"{first} to {last}"
            if ask.hinted:
                scratch = f"{scratch} , {unit} * {middle} = {unit * middle}" + (
                    f" + {shift} = {value}" if shift else ""
                )
            turns.append(
                Turn((Say("user", seen),), boxed(str(value), scratch if ask.careful else ""))
            )
            if value == goal:
                return Demo(ask.seed, tuple(turns), True)
            if value < goal:
                seen, first = high, middle + 1
            else:
                seen, last = low, middle - 1
        return Demo(ask.seed, tuple(turns), False)

    return Program("game", "logical_deduction", "guess", draw.level, title, source, hint, (), play)
