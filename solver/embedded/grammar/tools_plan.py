"""Tool-use families about a plan: which tool does what, and which step comes first."""

from random import Random

from solver.embedded.grammar.base import Ask, Demo, Draw, Program
from solver.embedded.grammar.shapes import call_code, names_of, values_of
from solver.embedded.grammar.toolbase import (
    Arguments,
    Log,
    Signatures,
    call,
    counts_of,
    loop_of,
    tool_program,
    use_body,
)


def choose(draw: Draw) -> Program:
    """Several tools whose effects their names hide; the hint tells which does what."""
    effects = draw.pick.sample(
        (
            ("raise", "raises"),
            ("stop", "stops"),
            ("turn", "turns"),
            ("clean", "cleans"),
            ("paint", "paints"),
        ),
        3,
    )
    tools_names = draw.pick.choice(
        (("red", "blue", "green"), ("alpha", "beta", "gamma"), ("north", "south", "west"))
    )
    many = (2, 2, 3, 3, 4)[draw.level - 1]
    names = draw.words[: many + 2]
    slips = draw.pick.choice((1, 2)) if draw.level < 4 else draw.pick.choice((2, 3))
    hint = ", ".join(f"{tool} {effects[i][1]}" for i, tool in enumerate(tools_names)) + "."
    hint = hint[0].upper() + hint[1:]
    works = [effect[0] for effect in effects]
    listed = ", ".join(f"'{work}'" for work in works)
    pool = names_of(draw, names, many)
    plan_style = draw.pick.randrange(3)
    plan_lines = (
        [f"self.plan = [(rng.choice([{listed}]), n) for n in names]"],
        ["self.plan = []", "for n in names:", f"    self.plan.append((rng.choice([{listed}]), n))"],
        [f"work = rng.choices([{listed}], k=len(names))", "self.plan = list(zip(work, names))"],
    )[plan_style]
    build = [
        *pool.lines,
        *plan_lines,
        *counts_of(draw),
        *draw.pick.choice(
            (
                [
                    "for i, (do, name) in enumerate(self.plan):",
                    "    self.ask(f'{do} {name}', until=lambda s, i=i: s['at'] > i)",
                ],
                [
                    "for i in range(len(names)):",
                    "    self.ask(' '.join(self.plan[i]), until=lambda s, i=i: s['at'] == i + 1)",
                ],
            )
        ),
        f"self.never(lambda s: s['slips'] > {slips})",
    ]
    tools: dict[str, list[str]] = {"use(self, do, name)": use_body(draw, "done", "that was wrong")}
    style = draw.pick.randrange(3)
    for tool, work in zip(tools_names, works, strict=True):
        body = (
            [f"return self.use('{work}', name)"],
            [f"text = self.use('{work}', name)", "return text"],
            [f"do = '{work}'", "return self.use(do, name)"],
        )[style]
        tools[f"tool_{tool}(self, name: str) -> str"] = body
    table = ", ".join(f"'{work}': '{tool}'" for tool, work in zip(tools_names, works, strict=True))
    one = call_code("tool[do]", {"name": "n"})
    solution = [["def solution(self):", f"    tool = {{{table}}}", *loop_of(draw, one)]]
    title = draw.one("Pick the {} tool.", "Use the {} tools.", "Press the {} buttons.").replace(
        "{}", draw.topic
    )
    signatures: Signatures = tuple((t, ("name",)) for t in tools_names)
    source, signatures = tool_program(
        draw, "Tools", title, pool.fields, build, tools, solution, signatures
    )

    def play(ask: Ask) -> Demo:
        rng = Random(ask.seed)
        use = pool.draw(rng)
        plan = [(rng.choice(works), n) for n in use]
        if plan_style == 2:
            rng = Random(ask.seed)
            plan = list(zip(rng.choices(works, k=len(pool.draw(rng))), use, strict=True))
        log = Log(f"{plan[0][0]} {plan[0][1]}")
        used, known = 0, dict(zip(works, tools_names, strict=True)) if ask.hinted else {}
        ruled: dict[str, set[str]] = {work: set() for work in works}
        for at, (do, name) in enumerate(plan):
            while True:
                left = [
                    t
                    for t in tools_names
                    if t not in ruled[do] and (t == known.get(do) or t not in known.values())
                ]
                tool = known.get(do) or ask.rng.choice(left or list(tools_names))
                if not ask.careful and ask.rng.random() < 0.5:
                    tool = ask.rng.choice(tools_names)
                scratch = f"{do} {tool}" if ask.careful else ""
                if works[tools_names.index(tool)] == do:
                    known[do] = tool
                    seen = [("tool", "done")]
                    if at + 1 < len(plan):
                        seen.append(("user", f"{plan[at + 1][0]} {plan[at + 1][1]}"))
                    log.reply(call(tool, {"name": name}, scratch), *seen)
                    break
                ruled[do].add(tool)
                used += 1
                log.reply(call(tool, {"name": name}, scratch), ("tool", "that was wrong"))
                if used > slips:
                    return Demo(ask.seed, tuple(log.turns), False)
        return Demo(ask.seed, tuple(log.turns), True)

    return Program(
        "tool_use", "tool_selection", "choose", draw.level, title, source, hint, signatures, play
    )


def workflow(draw: Draw) -> Program:
    """Steps that must come in one order, which the hint gives; few slips are allowed."""
    steps = draw.pick.choice(
        (
            ("open", "fill", "close"),
            ("check", "pack", "send"),
            ("load", "test", "ship"),
            ("wash", "cut", "cook"),
            ("plan", "build", "paint"),
        )
    )
    turned = list(steps)
    if draw.pick.random() < 0.6:
        draw.pick.shuffle(turned)
    jobs = (1, 1, 2, 2, 2)[draw.level - 1]
    names = draw.words[: 3 + draw.pick.randint(0, 2)]
    slips = draw.pick.choice((1, 2))
    amount = draw.pick.random() < 0.5
    span = (9, 12, 20, 40, 80)[draw.level - 1] + draw.pick.randint(0, 5)
    hint = f"First {turned[0]}, then {turned[1]}, then {turned[2]}."
    goal = draw.one("get {} ready", "do {}", "finish {}")
    extra = ", amount: int" if amount else ""
    pool, marks = names_of(draw, names, jobs), values_of(draw, "self.need", 2, span)
    ordered = ", ".join(repr(t) for t in turned)
    build = [
        *pool.lines,
        *(marks.lines if amount else ()),
        *draw.pick.choice(
            (
                [f"self.plan = [(do, n) for n in names for do in ({ordered})]"],
                [
                    "self.plan = []",
                    "for n in names:",
                    f"    self.plan += [(do, n) for do in ({ordered})]",
                ],
                [
                    f"steps = [{ordered}] * len(names)",
                    "self.plan = [(do, names[i // 3]) for i, do in enumerate(steps)]",
                ],
            )
        ),
        *counts_of(draw),
        "for i, n in enumerate(names):",
    ]
    ask_text = goal.replace("{}", "{n}") + (" amount {self.need[n]}" if amount else "")
    build += [
        f"    self.ask(f'{ask_text}', until=lambda s, i=i: s['at'] > 3 * i + 2)",
        f"self.never(lambda s: s['slips'] > {slips})",
    ]
    tools: dict[str, list[str]] = {"use(self, do, name)": use_body(draw, "ok", "not now")}
    for index, step in enumerate(steps):
        if index == 1 and amount:
            tools[f"tool_{step}(self, name: str{extra}) -> str"] = [
                "right = amount == self.need.get(name)",
                f"return self.use('{step}' if right else '', name)",
            ]
        else:
            tools[f"tool_{step}(self, name: str) -> str"] = [f"return self.use('{step}', name)"]
    one = call_code("do", {"name": "n"})
    solution = [["def solution(self):", *loop_of(draw, one)]]
    if amount:
        solution = [
            [
                "def solution(self):",
                f"    calls = [{one} for do, n in self.plan]",
                "    for c in calls:",
                f"        if c['name'] == '{steps[1]}':",
                "            c['arguments']['amount'] = self.need[c['arguments']['name']]",
                "    return calls",
            ]
        ]
    title = draw.one("Run the {} line.", "Finish the {} job.", "Keep the {} steps.").replace(
        "{}", draw.topic
    )
    signature: Signatures = tuple(
        (s, ("name", "amount") if i == 1 and amount else ("name",)) for i, s in enumerate(steps)
    )
    source, signature = tool_program(
        draw, "Steps", title, pool.fields, build, tools, solution, signature
    )

    def play(ask: Ask) -> Demo:
        rng = Random(ask.seed)
        use = pool.draw(rng)
        need = marks.draw(rng, use) if amount else {}
        texts = [goal.replace("{}", n) + (f" amount {need[n]}" if amount else "") for n in use]
        log = Log(texts[0])
        order = list(turned) if ask.hinted else list(steps)
        used = 0
        for job, name in enumerate(use):
            at = 0
            while at < 3:
                do = order[at]
                if not ask.careful and ask.rng.random() < 0.3:
                    do = ask.rng.choice(steps)
                arguments: Arguments = {"name": name}
                given = need.get(name, 0)
                if do == steps[1] and amount:
                    if not ask.careful and ask.rng.random() < 0.15:
                        given += ask.rng.choice((-1, 1, 10))
                    arguments["amount"] = given
                scratch = f"step {at + 1} {do}" if ask.careful else ""
                good = do == turned[at] and (do != steps[1] or not amount or given == need[name])
                if good:
                    order = [*turned[: at + 1], *[s for s in order if s not in turned[: at + 1]]]
                    at += 1
                    seen = [("tool", "ok")]
                    if at == 3 and job + 1 < len(use):
                        seen.append(("user", texts[job + 1]))
                    log.reply(call(do, arguments, scratch), *seen)
                    continue
                used += 1
                # What was refused is tried again later: another of the steps left comes first.
                rest = order[at:]
                order = [*order[:at], *rest[1:], rest[0]] if do == order[at] else order
                log.reply(call(do, arguments, scratch), ("tool", "not now"))
                if used > slips:
                    return Demo(ask.seed, tuple(log.turns), False)
        return Demo(ask.seed, tuple(log.turns), True)

    return Program(
        "tool_use",
        "multi_step_workflows",
        "workflow",
        draw.level,
        title,
        source,
        hint,
        signature,
        play,
    )
