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
    slips = draw.numbers.choice((1, 2))
    amount = draw.pick.random() < 0.5
    span = (9, 12, 20, 40, 80)[draw.level - 1] + draw.numbers.randint(0, 5)
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
