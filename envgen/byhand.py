"""Playing by hand: lines of the keyboard become actions, observations are printed."""

import difflib
import json
import re
import shlex
import sys
from collections.abc import Callable
from typing import Any, TextIO

from sandbox import JailInfo, Observation, Sandbox, action_bytes, episode_return, game_action
from spadekit.errors import BadInput
from spadekit.report import Report

LEFT = "left before the end; return 0"
LONGEST_SHOWN = 60


async def play_by_hand(
    source: str,
    seed: int,
    sandbox: Sandbox,
    report: Report,
    lines: TextIO | None = None,
    hint: str = "",
) -> float:
    """Play one episode and give its return; a line of ``lines`` (standard input) is an action.

    Everything printed goes to stderr with ``--json``, else to stdout. The end of input leaves the
    episode: return 0. A line that is too long for an action is the player's fault: it is said so
    and not played. Raises ``EnvironmentFault``.
    """
    longest = sandbox.config.limits.longest_action
    keyboard = Keyboard(lines or sys.stdin, report, longest)
    async with sandbox, await sandbox.open(source) as jail, await jail.episode(seed) as episode:
        info = jail.info
        report.panel("", f"{info.title}\n{how(info, hint)}")
        show(report, episode.observation)
        turns = 0
        while True:
            line = keyboard.line(prompt(turns + 1, info.max_turns))
            if line is None or line.strip() == ":quit":
                report.say(LEFT)
                return 0.0
            if line.strip().startswith(":"):
                report.say(_ordered(line.strip(), info, hint))
                continue
            try:
                action = as_action(line, info)
                if (size := action_bytes(action)) > longest:
                    raise BadInput(f"an action has at most {longest} bytes; this one has {size}")
            except BadInput as error:
                report.note(f"not played: {error}")
                continue
            step = await episode.step(action)
            turns += 1
            show(report, step.observation)
            if step.terminated or step.truncated:
                result = episode_return(step.reward, step.terminated)
                end = "the end" if step.terminated else "out of turns"
                report.say(f"{end} after {turns} turn{'s'[: turns != 1]}; return {result:g}")
                return result
            if step.reward:
                report.say(f"reward so far {step.reward:g}")


class Keyboard:
    """Reads lines of a person or a pipe, none of them longer than ``longest`` characters."""

    def __init__(self, lines: TextIO, report: Report, longest: int) -> None:
        self.lines, self.report, self.longest = lines, report, longest

    def line(self, prompt: str) -> str | None:
        """Return the next line without its end, None when there is none.

        One player at one keyboard: nothing else of the loop waits meanwhile.
        """
        while True:
            if self.lines.isatty():
                self.report.ask(prompt)
            text = self.lines.readline(self.longest)
            if not text:
                return None
            if text.endswith("\n") or len(text) < self.longest:
                # A pipe may hold any bytes; what is not text cannot be an action.
                return text.rstrip("\r\n").encode("utf-8", "replace").decode()
            size = len(text)
            while not text.endswith("\n") and (text := self.lines.readline(self.longest)):
                size += len(text)
            self.report.note(
                f"not played: a line of {size} characters; an action has at most {self.longest}"
            )


def as_action(line: str, info: JailInfo) -> str:
    """Turn a typed line into an action.

    A game's is taken as it stands. For tools ``tool_name key=value ...`` or JSON (a call, or a
    whole action) is a call; anything else is said to the user. Raises ``BadInput`` for a
    half-written call.
    """
    if info.setting == "game":
        return game_action(line)
    if line.lstrip().startswith("{"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"not JSON: {error}") from None
        if not isinstance(value, dict):
            raise BadInput('write a call as {"name": "...", "arguments": {...}}')
        return json.dumps(value) if "tool_calls" in value else _action([value])
    name, _, rest = line.strip().partition(" ")
    tools = {tool["function"]["name"]: tool["function"] for tool in info.tools}
    if name not in tools:
        if re.match(r"\w+=", rest):
            near = difflib.get_close_matches(name, tools, 1) or sorted(tools)
            raise BadInput(f"no tool {name[:LONGEST_SHOWN]!r}; there is {', '.join(near)}")
        return json.dumps({"content": line.strip(), "tool_calls": []})
    try:
        parts = shlex.split(rest)
    except ValueError as error:
        raise BadInput(f"{name}: {error}; quote values that hold spaces") from None
    arguments: dict[str, Any] = {}
    for part in parts:
        key, equals, text = part.partition("=")
        if not equals:
            shown = part[:LONGEST_SHOWN]
            raise BadInput(f"{name}: write {shown!r} as key=value; quote values that hold spaces")
        schema = tools[name]["parameters"]["properties"].get(key, {})
        arguments[key] = text if schema.get("type") == "string" else _value(text)
    return _action([{"name": name, "arguments": arguments}])


def how(info: JailInfo, hint: str) -> str:
    """Say how to play: what an action is, the tools, and the orders."""
    orders = [":quit"]
    orders += [":hint"] if hint else []
    orders += [":tools"] if info.tools else []
    told = f"Orders to this program: {', '.join(orders)}."
    if info.setting == "game":
        return f"Type your action as the task asks for it, with \\boxed{{...}} where it wants a box. {told}"
    return f"Type a call, or plain text to end your turn. {told}\n{_tools(info)}"


def prompt(turn: int, most: int | None) -> str:
    """Return what stands before the cursor."""
    return f"turn {turn} of {most} > " if most else f"turn {turn} > "


def show(report: Report, observation: Observation) -> None:
    """Print the messages of an observation."""
    for message in observation:
        report.panel("tool" if message.role == "tool" else "", message.content)


def _ordered(order: str, info: JailInfo, hint: str) -> str:
    answers: dict[str, Callable[[], str]] = {
        ":hint": lambda: f"hint: {hint or 'this environment has none'}",
        ":tools": lambda: _tools(info) or "a game has no tools",
        ":help": lambda: how(info, hint),
    }
    known = ", ".join([":quit", *answers])
    return answers.get(order, lambda: f"not played: no order {order[:40]}; there are {known}")()


def _tools(info: JailInfo) -> str:
    calls = []
    for tool in info.tools:
        function = tool["function"]
        arguments = " ".join(
            f"{key}=..." if key in function["parameters"]["required"] else f"[{key}=...]"
            for key in function["parameters"]["properties"]
        )
        calls.append(
            f"  {function['name']} {arguments}".rstrip() + f"  ({function['description']})"
        )
    return "\n".join(["Tools:", *calls]) if calls else ""


def _action(calls: list[dict[str, Any]]) -> str:
    return json.dumps({"content": "", "tool_calls": calls})


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
