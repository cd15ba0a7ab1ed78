"""What all tool-use families share: the class around their tools, calls, and the log of a play."""

import json

from solver.embedded.grammar.base import Draw, Say, Turn
from solver.embedded.grammar.shapes import spare_method, spare_tool

Arguments = dict[str, str | int]
Signatures = tuple[tuple[str, tuple[str, ...]], ...]


def call(name: str, arguments: Arguments, scratch: str = "") -> str:
    """Return a reply that calls one tool."""
    text = f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"
    return f"{scratch} {text}" if scratch else text


def tool_program(
    draw: Draw,
    name: str,
    title: str,
    fields: tuple[str, ...],
    build: list[str],
    tools: dict[str, list[str]],
    solution: list[list[str]],
    signatures: Signatures,
) -> tuple[str, Signatures]:
    """Return the source and the tools in the order of their methods."""
    if draw.pick.random() < 0.3:
        fields = (f"max_turns = {draw.numbers.randint(9, 12)}", *fields)
    methods = [[f"def {head}:", *(f"    {line}" for line in body)] for head, body in tools.items()]
    spare = spare_tool(draw)
    first = draw.pick.random() < 0.5
    extra = [spare_method(one) for one in spare]
    shown = tuple((tool, arguments) for tool, arguments, _ in spare)
    methods = [*extra, *methods] if first else [*methods, *extra]
    signatures = (*shown, *signatures) if first else (*signatures, *shown)
    blocks = [["def build(self, rng):", *(f"    {line}" for line in build)], *methods, *solution]
    lines = [
        "from envkit import ToolUseEnv",
        "",
        "",
        f"class {name}Env(ToolUseEnv):",
        f'    """{title}"""',
    ]
    if fields:
        lines += ["", *(f"    {field}" for field in fields)]
    for block in blocks:
        lines += ["", *(f"    {line}" for line in block)]
    return "\n".join(lines) + "\n", signatures


def until_of(draw: Draw, condition: str) -> tuple[str, dict[str, list[str]]]:
    """Return the code of an ``until`` (of state ``s``), and a method if it names one."""
    if draw.pick.random() < 0.6:
        return f"lambda s: {condition}", {}
    return "self.done", {"done(self, s)": [f"return {condition}"]}


def counts_of(draw: Draw) -> list[str]:
    """Set the two counters of a program that follows a plan."""
    return draw.pick.choice(
        (
            ["self.state = {'at': 0, 'slips': 0}"],
            ["self.state = dict(at=0, slips=0)"],
            ["self.state['at'] = self.state['slips'] = 0"],
        )
    )


def use_body(draw: Draw, good: str, bad: str) -> list[str]:
    """Judge one step of a plan, in one of four ways."""
    return draw.pick.choice(
        (
            [
                "at = self.state['at']",
                "if at < len(self.plan) and self.plan[at] == (do, name):",
                "    self.state['at'] += 1",
                f"    return '{good}'",
                "self.state['slips'] += 1",
                f"return '{bad}'",
            ],
            [
                "if (do, name) not in self.plan[self.state['at']:][:1]:",
                "    self.state['slips'] += 1",
                f"    return '{bad}'",
                "self.state['at'] += 1",
                f"return '{good}'",
            ],
            [
                "want = [*self.plan, None][self.state['at']]",
                "key = 'at' if want == (do, name) else 'slips'",
                "self.state[key] += 1",
                f"return '{good}' if key == 'at' else '{bad}'",
            ],
            [
                "rest = self.plan[self.state['at']:]",
                "good = bool(rest) and rest[0] == (do, name)",
                "self.state['at'] += good",
                "self.state['slips'] += not good",
                f"return '{good}' if good else '{bad}'",
            ],
        )
    )


def loop_of(draw: Draw, one: str) -> list[str]:
    """Return the lines that list ``one`` for each (do, n) of the plan."""
    return draw.pick.choice(
        (
            [f"    return [{one} for do, n in self.plan]"],
            [
                "    calls = []",
                "    for do, n in self.plan:",
                f"        calls.append({one})",
                "    return calls",
            ],
            [f"    make = lambda do, n: {one}", "    return [make(*pair) for pair in self.plan]"],
        )
    )


class Log:
    """The turns of a demonstration while it is made."""

    def __init__(self, first: str) -> None:
        self.turns: list[Turn] = []
        self._seen: tuple[Say, ...] = (Say("user", first),)

    def reply(self, text: str, *seen: tuple[str, str]) -> None:
        """Record a reply and what it is answered with."""
        self.turns.append(Turn(self._seen, text))
        self._seen = tuple(Say(role, content) for role, content in seen)
