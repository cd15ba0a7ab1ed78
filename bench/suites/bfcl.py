"""BFCL v4: single calls (non-live and live), when to call at all, and tasks of several turns.

A model is shown the functions as tools by its own chat template and its calls are read from its own
dialect. They are compared, or executed, in the jail by the package's own checkers.
"""

import ast
import json
import keyword
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.suites import bfcl_data
from bench.suites.bfcl_data import Entry, tool
from bench.suites.jail import Desk, Jails, Program, Unavailable, package_folders
from bench.suites.suite import NO_ANSWER, Group, Mark, Question, Talk
from sandbox import EnvironmentFault
from solver.chat import Spoken
from solver.toolcalls import FORMS, Call, Reply, parse

CATEGORIES: Final[Mapping[str, tuple[str, ...]]] = {
    "bfcl_non_live": ("simple_python", "multiple", "parallel", "parallel_multiple"),
    "bfcl_live": ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"),
    "bfcl_relevance": ("irrelevance", "live_irrelevance", "live_relevance"),
    "bfcl_multi_turn": (
        *("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param"),
        "multi_turn_long_context",
    ),
}
MOST_STEPS = 20
"""Replies with calls in one turn; a task that takes more has failed, as in the package."""
UNPROVED = frozenset(
    (
        *("live_simple_106-63-0", "live_simple_112-68-0", "live_multiple_507-149-4"),
        *("live_multiple_862-181-3", "live_multiple_964-207-0"),
    )
)
"""Questions whose listed values earn nothing by the package's own checker; they are asked all the same."""
MORE_FUNCTIONS = "I have updated some more functions you can choose from. What about now?"


@dataclass(frozen=True)
class Bfcl:
    """One of the suites of ``CATEGORIES``."""

    name: str
    revision: str
    questions: tuple[Question, ...]
    folder: Path
    jails: Jails
    program: Program
    group: Group = "tools"

    async def ask(self, question: Question, talk: Talk) -> Mark:
        """Ask a question, turn by turn where it has several."""
        entry, truth = question.data
        if self.name == "bfcl_multi_turn":
            return await self._turns(entry, truth, talk)
        tools = [tool(one) for one in entry["function"]]
        reply = await talk.say(_messages(entry["question"][0]), tools)
        read = parse(reply, talk.dialect, tools)
        if self.name == "bfcl_relevance":
            if not talk.answered:
                return NO_ANSWER
            wanted = question.category == "live_relevance"
            return Mark(float(wanted == bool(read.calls)))
        if read.malformed:
            return Mark(0.0, f"malformed call: {read.malformed[0].kind}")
        if not read.calls:
            return NO_ANSWER
        request = {
            "do": "compare",
            "functions": entry["function"],
            "calls": [{call.name: call.arguments} for call in read.calls],
            "truth": truth,
            "category": question.category,
        }
        return await self._valid(request)

    async def gold(self, question: Question) -> Sequence[str] | None:
        """Calls with the first possible value of each argument, or the true calls of every step."""
        entry, truth = question.data
        if self.name == "bfcl_multi_turn":
            functions, later = bfcl_data.functions_of(self.folder, entry)
            functions += [one for more in later.values() for one in more]
            # A turn ends with a reply that calls nothing.
            steps = [_written(_from_python(turn, functions)) for turn in truth]
            return [reply for step in steps for reply in ([step, ""] if step else [""])]
        if self.name == "bfcl_relevance":
            wanted = question.category == "live_relevance"
            return [_written([Call(entry["function"][0]["name"], {})]) if wanted else "Sorry."]
        if question.id in UNPROVED:
            return None
        required = {one["name"]: one["parameters"]["required"] for one in entry["function"]}
        return [_written([_first(one, required) for one in truth])]

    def silence_wins(self, question: Question) -> bool:
        """Where no tool fits, and nowhere else."""
        return question.category in ("irrelevance", "live_irrelevance")

    async def _turns(self, entry: Entry, truth: list[list[str]], talk: Talk) -> Mark:
        functions, later = bfcl_data.functions_of(self.folder, entry)
        common = {
            "id": entry["id"],
            "initial": entry["initial_config"],
            "classes": entry["involved_classes"],
            "long": "long_context" in entry["id"],
        }
        turns: list[list[list[str]]] = []
        try:
            async with self.jails.desk(self.program) as desk:
                for number, heard in enumerate(entry["question"]):
                    functions += later.get(number, [])
                    messages = _messages(heard) or [Spoken("user", MORE_FUNCTIONS)]
                    tools = [tool(one) for one in functions]
                    steps = await self._steps(desk, common, messages, tools, talk)
                    if steps is None:
                        return Mark(0.0, f"more than {MOST_STEPS} steps in a turn")
                    turns.append(steps)
        except EnvironmentFault as fault:
            return Mark(0.0, f"a call ended by {fault.reason}")
        if not any(turns):
            return NO_ANSWER
        return await self._valid({"do": "grade", **common, "turns": turns, "truth": truth})

    async def _steps(
        self,
        desk: Desk,
        common: Mapping[str, Any],
        messages: list[Spoken],
        tools: list[dict[str, Any]],
        talk: Talk,
    ) -> list[list[str]] | None:
        """Play one turn: calls are executed until a reply has none. None: there was no end to it."""
        steps: list[list[str]] = []
        while len(steps) <= MOST_STEPS:
            reply = parse(await talk.say(messages, tools), talk.dialect, tools)
            calls = _as_python(reply)
            if not calls:
                return steps
            steps.append(calls)
            results = (await desk.ask({"do": "call", **common, "calls": calls}))["results"]
            messages = [Spoken("tool", str(result)) for result in results]
        return None

    async def _valid(self, request: Mapping[str, Any]) -> Mark:
        try:
            answer = await self.jails.ask(self.program, request)
        except EnvironmentFault as fault:
            return Mark(0.0, f"the checker ended by {fault.reason}")
        return Mark(float(answer["valid"] is True))


def load(name: str, where: str, jails: Jails) -> Bfcl:
    """Load a suite from the installed package or from ``where`` its wheel was unpacked."""
    folder = bfcl_data.folder_of(where)
    try:
        [mpmath] = package_folders("mpmath")
    except Unavailable as error:
        raise Unavailable(f"{error}; pip install mpmath") from None
    program = Program(
        "bfcl.py",
        (folder / "eval_checker", folder / "constants", mpmath),
        (folder.parent, mpmath.parent),
    )
    questions = tuple(
        Question(str(entry["id"]), category, (entry, truth))
        for category in CATEGORIES[name]
        for entry, truth in bfcl_data.entries(folder, category)
    )
    return Bfcl(name, bfcl_data.revision_of(folder), questions, folder, jails, program)


def _messages(heard: Sequence[Mapping[str, str]]) -> list[Spoken]:
    return [Spoken(one["role"], one["content"]) for one in heard]


def _as_python(reply: Reply) -> list[str]:
    """Return calls as the package executes them: source of Python that names a function and literals.

    The jail would hold whatever else a name might be; an unreadable reply, or a name that is no
    name, ends the turn as a reply without calls does.
    """
    if reply.malformed or not all(_is_name(one.name) for one in reply.calls):
        return []
    if not all(_is_name(key) for one in reply.calls for key in one.arguments):
        return []
    return [
        f"{one.name}({', '.join(f'{key}={value!r}' for key, value in one.arguments.items())})"
        for one in reply.calls
    ]


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _written(calls: Sequence[Call]) -> str:
    """Write calls in the dialect ``hermes``."""
    begin, end = FORMS["hermes"].split("{", 1)[0], FORMS["hermes"].rsplit("}", 1)[1]
    return "".join(
        begin + json.dumps({"name": call.name, "arguments": call.arguments}) + end for call in calls
    )


def _first(truth: Mapping[str, Any], required: Mapping[str, Sequence[str]]) -> Call:
    """Return a call with the first possible value of each argument that must be given.

    An empty text among the values says that the argument may be left out.
    """
    [(name, arguments)] = truth.items()
    chosen = {}
    for key, values in arguments.items():
        given = [value for value in values if value != ""]
        if given and ("" not in values or key in required.get(name, ())):
            chosen[key] = _value(given[0])
    return Call(name, chosen)


def _value(value: Any) -> Any:
    """Take the first possibility inside dictionaries too."""
    if isinstance(value, dict):
        return {
            key: _value(one[0]) if isinstance(one, list) and one else one
            for key, one in value.items()
            if not (isinstance(one, list) and one and one[0] == "")
        }
    if isinstance(value, list):
        return [_value(one) if isinstance(one, dict) else one for one in value]
    return value


def _from_python(calls: Sequence[str], functions: Sequence[Entry]) -> list[Call]:
    """Read the true calls, which are written as Python with literal arguments."""
    names = {one["name"]: list(one["parameters"]["properties"]) for one in functions}
    read = []
    for source in calls:
        node = ast.parse(source, mode="eval").body
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        positional = zip(names.get(node.func.id, []), node.args, strict=False)
        arguments = {key: ast.literal_eval(value) for key, value in positional}
        arguments |= {one.arg: ast.literal_eval(one.value) for one in node.keywords if one.arg}
        read.append(Call(node.func.id, arguments))
    return read
