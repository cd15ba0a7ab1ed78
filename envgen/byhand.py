"""Playing by hand: lines of the keyboard become actions, observations are printed."""

import json
import shlex
import sys
from typing import Any, TextIO

from sandbox import JailInfo, Message, Observation, Sandbox, episode_return, game_action
from spadekit.errors import BadInput
from spadekit.report import Report


async def play_by_hand(
    source: str, seed: int, sandbox: Sandbox, report: Report, lines: TextIO | None = None
) -> float:
    """Play one episode and give its return; a line of ``lines`` (standard input) is an action.

    Everything printed goes to stderr with ``--json``, else to stdout. The end of input leaves the
    episode: return 0. Raises ``EnvironmentFault``.
    """
    lines = lines or sys.stdin
    say = report.note if report.as_json else report.text
    async with sandbox, await sandbox.open(source) as jail, await jail.episode(seed) as episode:
        say(f"{jail.info.title}\n{_how(jail.info)}\n")
        say(_shown(episode.observation))
        turns = 0
        while True:
            if lines.isatty():
                say("> ")
            # One player at one keyboard: nothing else of this loop waits meanwhile.
            line = lines.readline()
            if not line:
                say("left before the end; return 0")
                return 0.0
            try:
                action = as_action(line.rstrip("\n"), jail.info)
            except BadInput as error:
                report.note(str(error))
                continue
            step = await episode.step(action)
            turns += 1
            say(_shown(step.observation))
            if step.terminated or step.truncated:
                result = episode_return(step.reward, step.terminated)
                end = "the end" if step.terminated else "out of turns"
                say(f"{end} after {turns} turns; return {result:g}")
                return result


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
        except ValueError as error:
            raise BadInput(f"not JSON: {error}") from None
        if not isinstance(value, dict):
            raise BadInput('write a call as {"name": "...", "arguments": {...}}')
        return json.dumps(value) if "tool_calls" in value else _action([value])
    name, _, rest = line.strip().partition(" ")
    tools = {tool["function"]["name"]: tool["function"] for tool in info.tools}
    if name not in tools:
        return json.dumps({"content": line.strip(), "tool_calls": []})
    try:
        parts = shlex.split(rest)
    except ValueError as error:
        raise BadInput(f"{name}: {error}; quote values that hold spaces") from None
    arguments: dict[str, Any] = {}
    for part in parts:
        key, equals, text = part.partition("=")
        if not equals:
            raise BadInput(f"{name}: write {part!r} as key=value; quote values that hold spaces")
        schema = tools[name]["parameters"]["properties"].get(key, {})
        arguments[key] = text if schema.get("type") == "string" else _value(text)
    return _action([{"name": name, "arguments": arguments}])


def _action(calls: list[dict[str, Any]]) -> str:
    return json.dumps({"content": "", "tool_calls": calls})


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _how(info: JailInfo) -> str:
    if info.setting == "game":
        return "Type your action; a box is optional."
    calls = []
    for tool in info.tools:
        function = tool["function"]
        arguments = " ".join(f"{key}=..." for key in function["parameters"]["properties"])
        calls.append(
            f"  {function['name']} {arguments}".rstrip() + f"  ({function['description']})"
        )
    return "Type a call, or plain text to end your turn. Tools:\n" + "\n".join(calls)


def _shown(observation: Observation) -> str:
    return "\n".join(_line(message) for message in observation)


def _line(message: Message) -> str:
    return f"tool: {message.content}" if message.role == "tool" else message.content
