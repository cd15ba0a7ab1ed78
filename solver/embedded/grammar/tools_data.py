"""Tool-use families about reading and reporting: one value, or several added up."""

from random import Random

from solver.embedded.grammar.base import Ask, Demo, Draw, Program
from solver.embedded.grammar.shapes import calls_of, names_of, values_of
from solver.embedded.grammar.toolbase import Log, Signatures, call, tool_program, until_of


def lookup(draw: Draw) -> Program:
    """Read one value and report it; the scale may show only a part of it."""
    kind = draw.one("more", "half", "link", "tare")
    many = (3, 3, 4, 5, 6)[draw.level - 1]
    names = draw.words[:many]
    low, high = 11, 11 + draw.knob(9, 15, 25, 50, 80)
    tare = draw.numbers.randint(2, 3 + draw.level)
    read, tell = draw.one("count", "weigh", "read"), draw.one("report", "tell", "answer")
    words = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    hint = {
        "more": "Read the value first, add what is asked, then pass it on once.",
        "half": "The scale shows half: pass on twice the number.",
        "link": "Follow the name it points to and read that one.",
        "tare": f"The box counts too: take {words[tare]} away from the number.",
    }[kind]
    value = {
        "half": "2 * self.state['stock'][names[0]]",
        "tare": f"self.state['stock'][names[0]] - {tare}",
        "more": f"self.state['stock'][names[0]] + {tare}",
    }
    goal = value.get(kind, "self.state['stock'][names[0]]")
    shown = {"half": "half ", "tare": "boxed "}.get(kind, "")
    verb = draw.one("what is the", f"{tell} the")
    tail = f" plus {tare}" if kind == "more" else ""
    thing = draw.one("stock of", "weight of", f"{draw.topic} mark of")
    pool, marks = names_of(draw, names, many), values_of(draw, "stock", low, high)
    until, methods = until_of(
        draw,
        draw.one(
            "s['told'] == [self.goal]", "s['told'][:1] == [self.goal]", "self.goal in s['told'][:1]"
        ),
    )
    if kind == "link":
        goal = "stock[names[1]]"
    build = [
        *pool.lines,
        *marks.lines,
        *draw.pick.choice(
            (
                ["self.state = {'stock': stock, 'told': []}"],
                ["self.state['stock'] = stock", "self.state['told'] = []"],
                ["self.state = dict(told=[], stock=stock)"],
            )
        ),
        *draw.pick.choice(
            (
                [f"self.name, self.goal = names[0], {goal}"],
                ["self.name = names[0]", f"self.goal = {goal}"],
            )
        ),
    ]
    if kind == "link":
        build.append("self.link = {names[0]: names[1]}")
    build.append(f"self.ask(f'{verb} {thing} {{names[0]}}{tail}', until={until})")
    if draw.pick.random() < 0.3:
        build.append("self.never(lambda s: len(s['told']) > 1)")
    get = (
        [f"return f'{shown}{{self.state[\"stock\"][name]}}'"]
        if shown
        else ["return str(self.state['stock'][name])"]
    )
    if shown:
        get = ["value = self.state['stock'][name]", f"return f'{shown}{{value}}'"]
    if kind == "link":
        get = ["if name in self.link:", "    return 'same as ' + self.link[name]", *get]
    if draw.pick.random() < 0.4:
        get = ["if name not in self.state['stock']:", "    return 'unknown'", *get]
    tools = {
        **methods,
        f"tool_{read}(self, name: str) -> str": get,
        f"tool_{tell}(self, value: int) -> str": [
            "self.state['told'].append(value)",
            "return 'noted'",
        ],
    }
    solution = calls_of(draw, [(read, {"name": "self.name"}), (tell, {"value": "self.goal"})])
    title = draw.one(
        "Report from the {} store.", "Check the {} shelf.", "Read the {} scale."
    ).replace("{}", draw.topic)
    signatures: Signatures = ((read, ("name",)), (tell, ("value",)))
    source, signatures = tool_program(
        draw, "Store", title, pool.fields, build, tools, solution, signatures
    )

    def play(ask: Ask) -> Demo:
        rng = Random(ask.seed)
        order = pool.draw(rng)
        stock = marks.draw(rng, order)
        raw = stock[order[0]]
        goal = {
            "half": 2 * raw,
            "tare": raw - tare,
            "more": raw + tare,
            "link": stock[order[1]],
        }.get(kind, raw)
        log = Log(f"{verb} {thing} {order[0]}{tail}")
        first, after = f"{shown}{raw}", "same as " + order[1]
        log.reply(call(read, {"name": order[0]}), ("tool", after if kind == "link" else first))
        answer, scratch = goal, f"is {goal}"
        if kind == "link":
            log.reply(call(read, {"name": order[1]}), ("tool", str(goal)))
        elif kind == "half":
            scratch = f"{raw} + {raw} = {goal}"
        elif kind == "more":
            scratch = f"{raw} + {tare} = {goal}"
        elif kind == "tare":
            scratch = f"{raw} - {tare} = {goal}"
        sure = ask.careful and (ask.hinted or kind in ("more", "link") or ask.rng.random() < 0.5)
        if not sure:
            answer = (
                raw
                if kind in ("half", "tare", "more") and ask.rng.random() < 0.5
                else goal + ask.rng.choice((-2, -1, 0, 1, 2, 10))
            )
            scratch = ""
        log.reply(call(tell, {"value": answer}, scratch if ask.careful else ""))
        return Demo(ask.seed, tuple(log.turns), answer == goal)

    return Program(
        "tool_use", "data_retrieval", "lookup", draw.level, title, source, hint, signatures, play
    )
