"""Families about places: routes with odd controls, walks with a hidden stride, a key in a row of rooms."""

from random import Random

from solver.embedded.grammar.base import Ask, Demo, Draw, Program, Say, Turn, boxed, join, spoil
from solver.embedded.grammar.frames import Puzzle, Question, framed
from solver.embedded.grammar.shapes import Layout, reading, tail_of

_CONTROLS = {
    "plain": ("n", "s", "e", "w", "Go sideways first, then up or down."),
    "mirror": ("n", "s", "w", "e", "East and west are swapped."),
    "flip": ("s", "n", "e", "w", "North and south are swapped."),
    "both": ("s", "n", "w", "e", "Every move goes the other way."),
    "turned": ("e", "w", "n", "s", "North leads east, and east leads north."),
}


def route(draw: Draw) -> Program:
    """A whole route as one answer; the controls may be swapped, which the hint tells."""
    kind = draw.one(*_CONTROLS)
    up, down, right, left, hint = _CONTROLS[kind]
    span = (2, 2, 3, 4, 5)[draw.level - 1]
    size = span + 2 + draw.numbers.randint(0, 4)
    tries = draw.numbers.choice((1, 2, 3))
    if kind != "plain":
        tries = draw.numbers.choice((2, 3))
    goal = draw.one("goal", draw.topic, "to")
    here = draw.one("at", "from", "start")
    limit = 2 * span + draw.numbers.randint(1, 4)
    style = draw.one("loop", "count", "table", "branch")
    head = ["rng = random.Random(seed)"]
    head += [
        draw.one(
            f"x, y = rng.randint(0, {size}), rng.randint(0, {size})",
            f"x, y = [rng.randint(0, {size}) for _ in range(2)]",
        )
    ]
    head += [f"dx, dy = rng.randint(1, {span}), rng.randint(1, {span})"]
    head += ["dx *= rng.choice([1, -1])", "dy *= rng.choice([1, -1])"]
    head += ["self.goal, self.start = (x + dx, y + dy), (x, y)"]
    kind_of = draw.pick.randrange(4)
    if kind_of == 0:
        head += [
            f"self.best = ['{right}'] * dx + ['{left}'] * -dx + ['{up}'] * dy + ['{down}'] * -dy"
        ]
        solution = ["return [' '.join(self.best)]"]
    elif kind_of == 1:
        head += ["self.dx, self.dy = dx, dy"]
        solution = [
            f"side = ['{right}'] * self.dx + ['{left}'] * -self.dx",
            f"rise = ['{up}'] * self.dy + ['{down}'] * -self.dy",
            "return [' '.join(side + rise)]",
        ]
    elif kind_of == 2:
        head += ["self.dx, self.dy = dx, dy"]
        solution = [
            f"side = '{right}' if self.dx > 0 else '{left}'",
            f"rise = '{up}' if self.dy > 0 else '{down}'",
            "moves = [side] * abs(self.dx) + [rise] * abs(self.dy)",
            "return [' '.join(moves)]",
        ]
    else:
        solution = [
            "(x, y), (a, b), moves = self.start, self.goal, []",
            "while x != a:",
            f"    moves.append('{right}' if x < a else '{left}')",
            "    x += 1 if x < a else -1",
            "while y != b:",
            f"    moves.append('{up}' if y < b else '{down}')",
            "    y += 1 if y < b else -1",
            "return [' '.join(moves)]",
        ]
    read, more = reading(draw, "moves", ".split()")
    tail = tail_of(
        draw,
        "(x, y) == self.goal",
        draw.one("'home'", "'you are there'"),
        "f'you reach {x} {y}'",
        tries,
    )
    head += [
        *tail.setup,
        f"return f'{here} {{x}} {{y}} {goal} {{x + dx}} {{y + dy}} moves n s e w', {{}}",
    ]
    step = [read, "x, y = self.start"]
    fields: tuple[str, ...] = ()
    if style == "loop":
        step += [
            f"for m in moves[:{limit}]:",
            f"    x += (m == '{right}') - (m == '{left}')",
            f"    y += (m == '{up}') - (m == '{down}')",
        ]
    elif style == "count":
        step += [
            f"x += moves.count('{right}') - moves.count('{left}')",
            f"y += moves.count('{up}') - moves.count('{down}')",
        ]
    elif style == "table":
        fields = (
            f"ways = {{'{right}': (1, 0), '{left}': (-1, 0), '{up}': (0, 1), '{down}': (0, -1)}}",
        )
        step += [
            f"for m in moves[:{limit}]:",
            "    a, b = self.ways.get(m, (0, 0))",
            "    x, y = x + a, y + b",
        ]
    else:
        step += [
            f"for m in moves[:{limit}]:",
            f"    if m in ('{right}', '{left}'):",
            f"        x += 1 if m == '{right}' else -1",
            f"    elif m in ('{up}', '{down}'):",
            f"        y += 1 if m == '{up}' else -1",
        ]
    step += tail.lines
    title = draw.one("Walk to the {} .", "Find a way to the {} .", "Reach the {} .").replace(
        " .", "."
    )
    title = title.replace("{}", draw.topic)
    source = Layout("Route", title, head, step, solution, fields, more).source(draw)

    def play(ask: Ask) -> Demo:
        rng = Random(ask.seed)
        x, y = rng.randint(0, size), rng.randint(0, size)
        dx, dy = rng.randint(1, span), rng.randint(1, span)
        dx *= rng.choice([1, -1])
        dy *= rng.choice([1, -1])
        seen = f"{here} {x} {y} {goal} {x + dx} {y + dy} moves n s e w"
        turns: list[Turn] = []
        knows = ask.hinted or kind == "plain"
        for turn in range(tries):
            names = (up, down, right, left) if knows or turn > 0 else ("n", "s", "e", "w")
            moves = [names[2]] * dx + [names[3]] * -dx + [names[0]] * dy + [names[1]] * -dy
            careful = ask.careful or (turn > 0 and ask.rng.random() < 0.1)
            name = kind if knows or turn > 0 else "plain"
            sides = [f"{abs(d)} {'more' if d > 0 else 'less'}" for d in (dx, dy)]
            scratch = f"{name} : x {sides[0]} , y {sides[1]}"
            if not careful and ask.rng.random() < 0.8:
                moves = _stray(moves, names, ask.rng)
            reply = boxed(join(moves), scratch if careful else "")
            turns.append(Turn((Say("user", seen),), reply))
            ex = x + (moves.count(right) - moves.count(left))
            ey = y + (moves.count(up) - moves.count(down))
            if (ex, ey) == (x + dx, y + dy):
                return Demo(ask.seed, tuple(turns), True)
            seen = f"you reach {ex} {ey}"
        return Demo(ask.seed, tuple(turns), False)

    return Program("game", "spatial_reasoning", "route", draw.level, title, source, hint, (), play)


def _stray(moves: list[str], names: tuple[str, ...], rng: Random) -> list[str]:
    """Leave out, add or change one move."""
    moves = list(moves)
    place = rng.randrange(len(moves))
    kind = rng.randrange(3)
    if kind == 0 and len(moves) > 1:
        del moves[place]
    elif kind == 1 and len(moves) < 5:
        moves.insert(place, moves[place])
    else:
        moves[place] = rng.choice(names)
    return moves


def walk(draw: Draw) -> Program:
    """Where a walk ends; the hint is the stride or how to keep track."""
    count = (3, 3, 5, 7, 9)[draw.level - 1]
    size = draw.knob(5, 6, 8, 12, 20)
    kind = draw.one("plain", "double", "side", "wind")
    stride, rise, drift, hint = {
        "plain": (1, 1, 0, "Track sideways and upward moves apart."),
        "double": (2, 2, 0, "Every move is two steps long."),
        "side": (2, 1, 0, "Moves east and west are two steps long."),
        "wind": (1, 1, 1, "The wind adds one step east to every move."),
    }[kind]
    far = 2 * size
    # With the wind a short walk straight against it would end where it began.
    count = max(count, 5) if drift else count
    place = draw.one("start", f"{draw.topic} at", "from")
    ask = draw.one("end ?", "where ?")
    body = [f"x, y = rng.randint({count + 4}, {far + 9}), rng.randint({count + 4}, {far + 9})"]
    low = count + 4
    body += [f"path = [rng.choice('nsew') for _ in range({count})]"]
    plus = {1: "(m == 'e') - (m == 'w')", 2: "2 * ((m == 'e') - (m == 'w'))"}[stride]
    plus += " + 1" if drift else ""
    up = {1: "(m == 'n') - (m == 's')", 2: "2 * ((m == 'n') - (m == 's'))"}[rise]
    body += [f"text = f'{place} {{x}} {{y}} moves ' + ' '.join(path) + ' {ask}'"]
    if draw.pick.random() < 0.5:
        body += ["for m in path:", f"    x += {plus}", f"    y += {up}"]
    else:
        body += [f"x += sum({plus} for m in path)", f"y += sum({up} for m in path)"]

    def make(rng: Random) -> Question:
        x, y = rng.randint(low, far + 9), rng.randint(low, far + 9)
        path = [rng.choice("nsew") for _ in range(count)]
        text = f"{place} {x} {y} moves {join(path)} {ask}"
        steps = []
        for m in path:
            x += stride * ((m == "e") - (m == "w")) + drift
            y += rise * ((m == "n") - (m == "s"))
            steps.append(f"{x} {y}")
        return Question(text, f"{x} {y}", f"{kind} {' , '.join(steps)}")

    title = draw.one("Trace the {} walk.", "Where does the {} end up?", "Follow the {} moves.")
    return framed(
        draw,
        Puzzle(
            "walk",
            "spatial_reasoning",
            "Walk",
            title.format(draw.topic),
            hint,
            tuple(body),
            "text",
            "f'{x} {y}'",
            make,
        ),
    )


def key(draw: Draw) -> Program:
    """A plan for a row of rooms: fetch a hidden key, open the door; the hint tells where the key lies."""
    off = draw.numbers.choice((1, 2, 3) if draw.level > 1 else (1, 2))
    side = draw.numbers.choice((1, -1))
    step_words = {1: "one room", 2: "two rooms", 3: "three rooms"}
    origin = draw.one("door", "start")
    way = "right" if side > 0 else "left"
    spot = "the door" if origin == "door" else "where you start"
    hint = f"The key lies {step_words[off]} to the {way} of {spot}."
    span = (2, 2, 3, 3, 4)[draw.level - 1]
    tries = draw.numbers.choice((2, 3))
    reveal = draw.pick.random() < 0.6
    sign = f"{'+' if side > 0 else '-'} {off}"
    thing = draw.one("key", "lamp", "ticket")
    hint = hint.replace("key", thing)
    take = draw.one("take", "grab")
    # The last move is another word each time: a row of rooms alone has few plans.
    ends = draw.one("open leave enter close", "open pull push lift")
    low = span + 4
    rooms = low + draw.knob(4, 6, 8, 10, 12)
    miss = f"f'no, the {thing} was at {{self.key}}'" if reveal else f"'no {thing}'"
    win, simulate = "[guess] == self.solution()", draw.pick.random() < 0.4
    if simulate:
        win = "got and at == self.door"
    tail = tail_of(draw, win, "'yes'", miss, tries)
    origin_now = "self.door" if origin == "door" else "self.at"
    reset = [
        "rng = random.Random(seed)",
        f"self.at = rng.randint({low}, {rooms})",
        *draw.pick.choice(
            (
                [f"self.door = self.at + rng.choice([1, -1]) * rng.randint(1, {span})"],
                [
                    "way = rng.choice([1, -1])",
                    f"self.door = self.at + way * rng.randint(1, {span})",
                ],
                [
                    "self.door = self.at",
                    "while self.door == self.at:",
                    f"    self.door += rng.choice([1, -1]) * rng.randint(1, {span})",
                ],
            )
        ),
        f"self.key = {origin_now} {sign}",
        f"self.end = rng.choice('{ends}'.split())",
        *tail.setup,
        f"return f'{draw.topic} at {{self.at}} door {{self.door}} use {{self.end}} l r {take}', {{}}",
    ]
    more: list[list[str]] = []
    path = draw.pick.randrange(3)
    if path == 0:
        go = [
            "go = lambda a, b: ['r'] * (b - a) + ['l'] * (a - b)",
            f"plan = go(self.at, self.key) + ['{take}'] + go(self.key, self.door) + [self.end]",
            "return [' '.join(plan)]",
        ]
    elif path == 1:
        more = [
            [
                "def go(self, a, b):",
                "    way = 'r' if a < b else 'l'",
                "    return [way] * abs(a - b)",
            ]
        ]
        go = [
            f"first = self.go(self.at, self.key) + ['{take}']",
            "then = self.go(self.key, self.door) + [self.end]",
            "return [' '.join(first + then)]",
        ]
    else:
        go = [
            "plan, at = [], self.at",
            f"for spot, act in ((self.key, '{take}'), (self.door, self.end)):",
            "    plan += ['r'] * (spot - at) + ['l'] * (at - spot) + [act]",
            "    at = spot",
            "return [' '.join(plan)]",
        ]
    read, reader = reading(draw, "moves", ".split()") if simulate else reading(draw)
    step = [read]
    if simulate:
        step += [
            "at, got = self.at, False",
            f"for m in moves[:{4 * span + 12}]:",
            "    at += (m == 'r') - (m == 'l')",
            f"    got = got or (m == '{take}' and at == self.key)",
        ]
        win_end = "moves[-1:] == [self.end]"
        step.append(f"got = got and {win_end}")
    step += tail.lines
    more += reader
    title = draw.one("Leave the {} rooms.", "Open the {} door.", "Get out of the {} .").replace(
        " .", "."
    )
    title = title.replace("{}", draw.topic)
    source = Layout("Rooms", title, reset, step, go, (), more).source(draw)

    def fetched(plan: list[str], at: int, place: int) -> int | None:
        """Return where a plan ends, or None if it fetches nothing."""
        got = False
        for move in plan[: 4 * span + 12]:
            at += (move == "r") - (move == "l")
            got = got or (move == take and at == place)
        return at if got else None

    def walk_of(a: int, b: int) -> list[str]:
        return ["r"] * (b - a) + ["l"] * (a - b)

    def play(ask: Ask) -> Demo:
        rng = Random(ask.seed)
        at = rng.randint(low, rooms)
        door = at + rng.choice([1, -1]) * rng.randint(1, span)
        place = (door if origin == "door" else at) + side * off
        end = rng.choice(ends.split())
        best = [*walk_of(at, place), take, *walk_of(place, door), end]
        seen = f"{draw.topic} at {at} door {door} use {end} l r {take}"
        turns: list[Turn] = []
        for turn in range(tries):
            told = ask.hinted or (turn > 0 and reveal)
            spot = place
            if not told and ask.rng.random() < 0.8:
                spot = ask.rng.choice((door, at)) + ask.rng.choice((-2, -1, 1, 2))
            plan = [*walk_of(at, spot), take, *walk_of(spot, door), end]
            careful = ask.careful or (turn > 0 and ask.rng.random() < 0.1)
            if not careful and ask.rng.random() < 0.75:
                plan = spoil(join(plan), ask.rng).split()
            scratch = f"{thing} {spot} : {at} to {spot} , {spot} to {door}"
            turns.append(Turn((Say("user", seen),), boxed(join(plan), scratch if careful else "")))
            arrived = plan[-1] == end and fetched(plan, at, place) == door
            if plan == best or (simulate and arrived):
                return Demo(ask.seed, tuple(turns), True)
            seen = f"no, the {thing} was at {place}" if reveal else f"no {thing}"
        return Demo(ask.seed, tuple(turns), False)

    return Program("game", "strategic_planning", "key", draw.level, title, source, hint, (), play)
