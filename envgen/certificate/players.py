"""The certificate's players: baselines that must not win, odd actions that must not crash."""

import json
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from envgen.certificate.offers import offers
from envgen.certificate.plays import Player, said
from envgen.certificate.search import named_range, next_guess
from sandbox import JailInfo, Observation, game_action

LONGEST_ECHO = 8_000
DEEDS = {
    "game": {
        "nothing": "replies with nothing",
        "echo": "repeats the observation",
        "first": "repeats the first action that the observation offers",
        "random": "picks offered actions at random",
        "nonsense": "says a word, letter or number without meaning",
        "guess": "says what is right elsewhere, one of a few usual words",
        "borrowed": "plays the solution of another seed",
        "answers": "gives the answer of another seed",
        "halving": "halves the range of numbers that the text names",
    },
    "tool_use": {
        "nothing": "replies with nothing",
        "echo": "repeats the instruction",
        "first": "calls every tool once with plausible arguments",
        "random": "calls tools at random with plausible arguments",
    },
}
DONE = "<answer>done</answer>"
"""Ends a turn like any other words; programs of the reference project read it as their answer."""
NONSENSE = ("zzqqzzqq", "e", "7")
COINS = frozenset(
    [
        "yes",
        "no",
        "true",
        "false",
        "left",
        "right",
        "up",
        "down",
        "heads",
        "tails",
        "even",
        "odd",
        "black",
        "white",
        "red",
        "on",
        "off",
        "0",
        "1",
        "2",
        "a",
        "b",
    ]
)
"""Answers that come to mind by themselves, whatever is asked."""
ODD_WORDS = (
    "",
    "no box at all",
    "\\boxed{}",
    "\\boxed{-1}",
    *(f"\\boxed{{{word}}}" for word in NONSENSE),
    "\\boxed{a, b, c, d}",
    "\\boxed{\u00b2}",  # isdigit() says yes, int() says no
    "\\boxed{\U0001f642 \u202e\u0301\u0661}",
    "\\boxed{" + "9" * 5_000 + "}",
    "x" * 20_000,
)


def baselines(
    info: JailInfo, first: Observation, seed: int, place: int
) -> dict[str, Callable[[], Player]]:
    """Return the baseline players by name; some have nothing to do where a text offers nothing.

    ``place`` is the seed's among all that are played.
    They know only what a player sees: the observations and, for tools, the schemas.
    """
    if info.setting == "tool_use":
        return {
            "nothing": lambda: lambda seen: reply(""),
            "echo": lambda: lambda seen: reply(said(seen[-1])[:LONGEST_ECHO]),
            "first": lambda: _every_tool(info.tools),
            "random": lambda: _random_tools(info.tools, random.Random(seed)),
        }
    players: dict[str, Callable[[], Player]] = {
        "nothing": lambda: lambda seen: "",
        "echo": lambda: lambda seen: game_action(said(seen[-1])[:LONGEST_ECHO]),
    }
    if offers(said(first)):
        players["first"] = lambda: lambda seen: boxed(offers(said(seen[0]))[0])
        players["random"] = lambda: _random_offers(random.Random(seed))
    players["nonsense"] = lambda: lambda seen: boxed(NONSENSE[place % len(NONSENSE)])
    if named_range(said(first)):
        players["halving"] = lambda: _halving
    return players


def odd_actions(info: JailInfo, solution: Sequence[str]) -> tuple[str, ...]:
    """Return actions that no sensible player sends, some of them close to the right one."""
    if info.setting == "tool_use":
        return _odd_calls(info.tools)
    mangled = []
    if solution:
        words = unboxed(solution[0]).split()
        mangled = [words[:-1], [*words, words[-1] if words else "x"], ["zz", *words[1:]]]
    return ODD_WORDS + tuple(boxed(" ".join(words)) for words in mangled)


def boxed(action: str) -> str:
    """Return an action in its box, as a policy is asked to write it."""
    return action if action.startswith("\\boxed{") else "\\boxed{" + action + "}"


def unboxed(action: str) -> str:
    """Return what is in the box, or the action as it is."""
    return (
        action.removeprefix("\\boxed{").removesuffix("}")
        if action.startswith("\\boxed{")
        else action
    )


def reply(content: str) -> str:
    """Return the tool-use action of a plain reply."""
    return json.dumps({"content": content, "tool_calls": []})


def call(name: str, arguments: Any) -> str:
    """Return the tool-use action of one call."""
    calls = [{"name": name, "arguments": arguments}]
    return json.dumps({"content": "", "tool_calls": calls})


def wrong_for(action: str, others: Sequence[str], last_only: bool = False) -> str:
    """Return a wrong action of the right form: one that another seed's solution has in its place.

    A tool call gets arguments that are a little off, all or the last one; where every seed has the
    same action, a word that means nothing.
    """
    if action.startswith('{"content"'):
        with suppress(ValueError, LookupError, TypeError, AttributeError):
            first = json.loads(action)["tool_calls"][0]
            given = dict(first["arguments"])
            for name in list(given)[-1:] if last_only else given:
                given[name] = _off(given[name])
            return call(first["name"], given)
        return call("no_such_tool", {})
    return next((other for other in others if other != action), boxed("zz"))


def _off(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return value
    return value + "x" if isinstance(value, str) else value + 1


def _halving(seen: Sequence[Observation]) -> str | None:
    guess = next_guess(seen)
    return None if guess is None else boxed(guess)


def _random_offers(rng: random.Random) -> Player:
    known: tuple[str, ...] = ()

    def choose(seen: Sequence[Observation]) -> str:
        nonlocal known
        known = offers(said(seen[-1])) or known
        return boxed(rng.choice(known))

    return choose


def _every_tool(tools: Sequence[dict[str, Any]]) -> Player:
    actions = [*(call(name, _plausible(tool, None)) for name, tool in _named(tools)), reply(DONE)]
    return lambda seen: actions[len(seen) - 1] if len(seen) <= len(actions) else None


def _random_tools(tools: Sequence[dict[str, Any]], rng: random.Random) -> Player:
    def choose(seen: Sequence[Observation]) -> str:
        if not tools or len(seen) > 12:
            return reply(DONE)
        name, tool = rng.choice(_named(tools))
        return call(name, _plausible(tool, rng))

    return choose


def _odd_calls(tools: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    actions = [call("no_such_tool", {}), call("", {"x": None})]
    for name, tool in _named(tools)[:8]:
        names = list(tool["parameters"]["properties"])
        actions += [
            call(name, {}),
            call(name, dict.fromkeys(names, "\u00b2\U0001f642")),
            call(name, dict.fromkeys(names, -1)),
            call(name, [1, 2]),
            call(name, {**{key: [None] for key in names}, "unknown": {}}),
        ]
    actions += [reply("x" * 20_000), reply("\u202e\U0001f642"), reply("")]
    return tuple(actions)


def _named(tools: Sequence[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [(tool["function"]["name"], tool["function"]) for tool in tools]


def _plausible(tool: dict[str, Any], rng: random.Random | None) -> dict[str, Any]:
    """Return arguments that fit a tool's schema; without ``rng`` always the same ones."""
    parameters = tool["parameters"]
    return {
        name: _value(name, schema, rng)
        for name, schema in parameters["properties"].items()
        if name in parameters["required"] or (rng is not None and rng.random() < 0.5)
    }


def _value(name: str, schema: dict[str, Any], rng: random.Random | None) -> Any:
    if "anyOf" in schema:
        return _value(name, schema["anyOf"][0], rng)
    kind = schema.get("type")
    options: Sequence[Any]
    if "enum" in schema:
        options = schema["enum"]
    elif kind == "integer":
        options = (1, 2, 3, 5, 10)
    elif kind == "number":
        options = (1.0, 0.5, 10.0)
    elif kind == "boolean":
        options = (True, False)
    elif kind == "array":
        options = ([_value(name, schema.get("items", {}), rng)],)
    elif kind in ("object", "null"):
        options = ({} if kind == "object" else None,)
    else:
        options = offers(schema.get("description", "")) or (name, "a", "test", NONSENSE[0])
    return options[0] if rng is None else rng.choice(list(options))
