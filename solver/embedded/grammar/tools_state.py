"""Tool-use families about changing state: settings, and what is locked."""

from random import Random

from solver.embedded.grammar.base import Ask, Demo, Draw, Program
from solver.embedded.grammar.shapes import call_code, calls_of, names_of, values_of
from solver.embedded.grammar.toolbase import Log, Signatures, call, tool_program, until_of


def settings(draw: Draw) -> Program:
    """Two changes of state, one of them relative to what is there; only the right ones may be written."""
    many = (3, 3, 3, 4, 5)[draw.level - 1]
    names = draw.words[:many]
    low, high = 10, 10 + draw.knob(9, 14, 20, 40, 70)
    show, write = draw.one("show", "get", "see"), draw.one("set", "put", "write")
    down = draw.pick.random() < 0.4
    more, step = ("lower", -1) if down else ("raise", 1)
    span = (4, 5, 6, 8, 9)[draw.level - 1]
    first = draw.pick.random() < 0.5
    hint = draw.one(
        "See the old value before you change it.",
        "Read first, work out the new number, then write it once.",
    )
    sign = "-" if down else "+"
    tries = draw.numbers.choice((2, 3))
    pool, marks = names_of(draw, names, many), values_of(draw, "now", low, high)
    build = [
        *pool.lines,
        draw.one("a, b = names[:2]", "a, b, *rest = names"),
        *marks.lines,
        *draw.pick.choice(
            (
                [f"k, v = rng.randint(2, {span}), rng.randint({high + 1}, {high + 19})"],
                [f"k = rng.randint(2, {span})", f"v = rng.randint({high + 1}, {high + 19})"],
            )
        ),
        *draw.pick.choice(
            (
                ["self.state = {'now': now, 'count': 0}"],
                ["self.state['now'] = now", "self.state['count'] = 0"],
            )
        ),
        f"self.plan = [(b, v), (a, now[a] {sign} k)]"
        if first
        else f"self.plan = [(a, now[a] {sign} k), (b, v)]",
    ]
    plain = f"self.ask(f'{write} {{b}} to {{v}}', until=lambda s: s['now'][b] == v)"
    relative = f"self.ask(f'{more} {{a}} by {{k}}', until=lambda s: s['now'][a] == self.plan[{int(first)}][1])"
    build += [plain, relative] if first else [relative, plain]
    if draw.pick.random() < 0.5:
        build += [f"self.never(lambda s: s['count'] > {tries})"]
    else:
        build += ["others = {n: k for n, k in now.items() if n not in (a, b)}"]
        build += [
            f"self.never(lambda s: s['count'] > {tries} or not others.items() <= s['now'].items())"
        ]
    tools = {
        f"tool_{show}(self, name: str) -> str": draw.pick.choice(
            (
                ["return str(self.state['now'][name])"],
                ["value = self.state['now'].get(name, 'nothing')", "return f'{value}'"],
                [
                    "if name not in self.state['now']:",
                    "    return 'unknown'",
                    "return str(self.state['now'][name])",
                ],
            )
        ),
        f"tool_{write}(self, name: str, value: int) -> str": [
            "self.state['count'] += 1",
            "self.state['now'][name] = value",
            "return 'done'",
        ],
    }
    one = call_code(repr(write), {"name": "n", "value": "v"})
    solution = [
        [
            "def solution(self):",
            *draw.pick.choice(
                (
                    [f"    return [{one} for n, v in self.plan]"],
                    [
                        "    calls = []",
                        "    for n, v in self.plan:",
                        f"        calls.append({one})",
                        "    return calls",
                    ],
                )
            ),
        ]
    ]
    title = draw.one(
        "Change the {} settings.", "Adjust the {} values.", "Update the {} table."
    ).replace("{}", draw.topic)
    signatures: Signatures = ((show, ("name",)), (write, ("name", "value")))
    source, signatures = tool_program(
        draw, "Settings", title, pool.fields, build, tools, solution, signatures
    )

    def play(ask: Ask) -> Demo:
        rng = Random(ask.seed)
        order = pool.draw(rng)
        a, b = order[:2]
        now = marks.draw(rng, order)
        k, v = rng.randint(2, span), rng.randint(high + 1, high + 19)
        new = now[a] + step * k
        texts = [f"{write} {b} to {v}", f"{more} {a} by {k}"]
        plan = [(b, v), (a, new)]
        if not first:
            texts.reverse()
            plan.reverse()
        log = Log(texts[0])
        done = True
        for at, (name, value) in enumerate(plan):
            scratch = ""
            given = value
            if name == a:
                if ask.careful or ask.rng.random() < 0.5:
                    log.reply(call(show, {"name": a}), ("tool", str(now[a])))
                    scratch = f"{now[a]} {sign} {k} = {new}"
                    if not ask.careful and ask.rng.random() < 0.5:
                        given += ask.rng.choice((-2, -1, 1, 2))
                else:
                    given = ask.rng.choice((k, v, 10 + k))
            done = given == value
            seen = [("tool", "done")]
            if done and at == 0:
                seen.append(("user", texts[1]))
            log.reply(
                call(write, {"name": name, "value": given}, scratch if ask.careful else ""), *seen
            )
            if not done:
                break
        return Demo(ask.seed, tuple(log.turns), done)

    return Program(
        "tool_use",
        "state_modification",
        "settings",
        draw.level,
        title,
        source,
        hint,
        signatures,
        play,
    )


def unlock(draw: Draw) -> Program:
    """A change that fails while something is locked; the error tells what is needed to go on."""
    many = (3, 3, 4, 4, 5)[draw.level - 1]
    names = draw.words[:many]
    span = (9, 20, 30, 60, 90)[draw.level - 1] + draw.numbers.randint(0, 5)
    kind = draw.one("sum", "sum", "plus", "pair")
    free, act = draw.one("unlock", "free", "release"), draw.one("start", "open", "move")
    slips = 1
    plus = draw.numbers.randint(1, 4)
    words = ("zero", "one", "two", "three", "four")
    hint = {
        "sum": "Add the two numbers of the error, then try again.",
        "plus": f"The right code is {words[plus]} more than the one in the error.",
        "pair": "The code is twice the number in the error.",
    }[kind]
    ok = {
        "sum": "self.code[name] + self.more",
        "plus": f"self.code[name] + {plus}",
        "pair": "2 * self.code[name]",
    }[kind]
    job = draw.one(act, f"please {act}")
    pool, marks = names_of(draw, names, many), values_of(draw, "self.code", 3, span)
    until, methods = until_of(draw, draw.one("s['done'] == [self.goal]", "self.goal in s['done']"))
    build = [
        *pool.lines,
        *marks.lines,
        *(["self.more = rng.randint(2, 9)"] if kind == "sum" else []),
        *draw.pick.choice(
            (
                ["self.state = {'free': [], 'done': [], 'slips': 0}"],
                ["self.state = dict(free=[], done=[], slips=0)"],
                ["self.state['free'], self.state['done'] = [], []", "self.state['slips'] = 0"],
            )
        ),
        "self.goal = names[0]",
        draw.one(
            f"self.ask(f'{job} {{self.goal}}', until={until})",
            f"self.ask('{job} ' + self.goal, until={until})",
        ),
        f"self.never(lambda s: s['slips'] > {slips})",
    ]
    if draw.pick.random() < 0.3:
        build.append("self.never(lambda s: len(s['done']) > 1)")
    check = draw.pick.random() < 0.3
    methods |= {"right(self, name)": [f"return {ok}"]} if check else {}
    test = "self.right(name)" if check else ok
    tools = {
        **methods,
        f"tool_{free}(self, name: str, code: int) -> str": draw.pick.choice(
            (
                [
                    f"if code != {test}:",
                    "    self.state['slips'] += 1",
                    "    return 'wrong code'",
                    "self.state['free'].append(name)",
                    "return 'free'",
                ],
                [
                    f"if code == {test}:",
                    "    self.state['free'].append(name)",
                    "    return 'free'",
                    "self.state['slips'] += 1",
                    "return 'wrong code'",
                ],
                [
                    f"good = code == {test}",
                    "self.state['slips'] += not good",
                    "self.state['free'] += [name] * good",
                    "return 'free' if good else 'wrong code'",
                ],
            )
        ),
        f"tool_{act}(self, name: str) -> str": [
            "if name not in self.state['free']:",
            "    self.state['slips'] += name != self.goal",
            "    return f'locked {self.code[name]}"
            + (" and {self.more}'" if kind == "sum" else "'"),
            "self.state['done'].append(name)",
            "return 'done'",
        ],
    }
    right_code = ok.replace("[name]", "[self.goal]")
    solution = calls_of(
        draw, [(free, {"name": "self.goal", "code": right_code}), (act, {"name": "self.goal"})]
    )
    title = (
        draw.one("Free the {} .", "Get past the {} lock.", "Work the {} panel.")
        .replace(" .", ".")
        .replace("{}", draw.topic)
    )
    signatures: Signatures = ((free, ("name", "code")), (act, ("name",)))
    source, signatures = tool_program(
        draw, "Lock", title, pool.fields, build, tools, solution, signatures
    )

    def play(ask: Ask) -> Demo:
        rng = Random(ask.seed)
        use = pool.draw(rng)
        code = marks.draw(rng, use)
        name = use[0]
        shown = code[name]
        more = rng.randint(2, 9) if kind == "sum" else 0
        right = {"sum": shown + more, "plus": shown + plus, "pair": 2 * shown}.get(kind, shown)
        log = Log(f"{job} {name}")
        log.reply(
            call(act, {"name": name}),
            ("tool", f"locked {shown}" + (f" and {more}" if more else "")),
        )
        steps = {"plus": f"{shown} + {plus} = {right}", "pair": f"{shown} + {shown} = {right}"}.get(
            kind, f"{shown} + {more} = {right}"
        )
        for slip in range(slips + 1):
            given, scratch = right, steps
            sure = ask.careful and (
                ask.hinted or kind == "sum" or (slip > 0 and ask.rng.random() < 0.5)
            )
            if not sure and ask.rng.random() < 0.8:
                given, scratch = (
                    ask.rng.choice((shown, shown + 1, 2 * shown, abs(shown - 1) + 1)),
                    "",
                )
            if given == right:
                log.reply(
                    call(free, {"name": name, "code": given}, scratch if ask.careful else ""),
                    ("tool", "free"),
                )
                log.reply(call(act, {"name": name}))
                return Demo(ask.seed, tuple(log.turns), True)
            log.reply(call(free, {"name": name, "code": given}), ("tool", "wrong code"))
        return Demo(ask.seed, tuple(log.turns), False)

    return Program(
        "tool_use", "error_recovery", "unlock", draw.level, title, source, hint, signatures, play
    )
