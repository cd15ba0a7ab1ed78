import json
from collections.abc import Sequence
from itertools import chain

import pytest

from envgen.config import MonitorConfig
from envgen.monitors import Finding, alarms, as_meta, says_nothing, watch
from memory import EnvironmentRecord, PlayRecord, StandingRecord
from memory.monitors import alarms as kept_alarms
from memory.monitors import line

CALL = '<tool_call>{"name": "look", "arguments": {}}</tool_call>'
JSON_ALONE = '{"name": "look", "parameters": {}}'  # as Llama 3 writes a call
BROKEN = "<tool_call>{</tool_call>"
Turn = list[dict[str, str]]


def environment(id: str, setting: str = "game", turns: Sequence[int] = (3, 4)) -> EnvironmentRecord:
    return EnvironmentRecord(
        id=id,
        shard=1,
        setting=setting,
        skills=("logical_deduction",),
        title=id,
        description="",
        source="",
        hint="",
        tools="",
        difficulty=1,
        certificate=json.dumps({"turns": list(turns)}),
        policy_version=0,
        parents=(),
        document="",
        design="",
        digest="",
        fingerprint="",
        isolation="nsjail",
        decision="",
    )


def turn(text: str, calls: int = 0, fault: str = "") -> Turn:
    """A reply and what it is answered with: a message for each call, one by us for what is no action."""
    reply = {"role": "assistant", "content": text, "stop": "end"} | (
        {"fault": fault} if fault else {}
    )
    return [reply, *[{"role": "tool", "content": "..."}] * (calls + bool(fault))]


def play(
    environment: str, *replies: str | Turn, value: float | None = 1.0, arm: str = "unhinted"
) -> PlayRecord:
    turns = [turn(one) if isinstance(one, str) else one for one in replies]
    return PlayRecord(
        id=f"{environment}-{len(replies)}",
        environment=environment,
        seed=0,
        arm=arm,
        purpose="probe",
        episode_return=value,
        turns=len(replies),
        fault="" if value is not None else "step:crashed",
        stop="terminated",
        policy_version=0,
        temperature=1.0,
        ids=(),
        mask=(),
        logprobs=(),
        transcript=json.dumps([{"role": "user", "content": "Go."}, *chain.from_iterable(turns)]),
    )


def standing(environment: str, hint_only: bool, hinted: int = 4) -> StandingRecord:
    return StandingRecord(
        environment=environment,
        policy_version=0,
        plays_unhinted=4,
        plays_hinted=hinted,
        return_unhinted=0.0,
        return_hinted=1.0,
        regret=1.0,
        regret_low=0.0,
        regret_high=1.0,
        status="hint_only" if hint_only else "frontier",
        hint_only=hint_only,
        updated=1,
    )


def found(monitor: str, *arguments: Sequence[object]) -> Finding:
    return next(one for one in watch(*arguments) if one.monitor == monitor)  # type: ignore[arg-type]


def test_wins_without_a_tool_call_are_those_of_tool_environments_alone() -> None:
    names = ("desk", "json", "thought")
    known = [*(environment(name, "tool_use") for name in names), environment("game")]
    plays = [
        play("desk", "All done."),
        play("desk", "All done.", value=0.0),
        play("desk", "All done.", value=None),
        play("desk", turn(CALL, 1), "Done."),
        play("json", turn(JSON_ALONE, 1), "Done."),
        play("thought", f"<think>{CALL}</think>Done."),
        play("desk", turn(BROKEN, fault="json"), "Done.", arm="hinted"),
        play("game", r"\boxed{1}"),
    ]
    one = found("no_tool_call", known, plays, [])
    assert (one.count, one.of, one.environments) == (3, 5, ("desk", "thought"))


def test_wins_in_one_turn_count_where_the_solution_takes_more_actions() -> None:
    known = [
        environment("long"),
        environment("short", turns=(1, 3)),
        environment("unknown", turns=()),
        environment("json", "tool_use", turns=(2, 2)),
        environment("thought", "tool_use", turns=(2, 2)),
    ]
    plays = [
        play("long", r"\boxed{1}"),
        play("long", r"\boxed{1}", r"\boxed{2}"),
        play("short", r"\boxed{1}"),
        play("unknown", r"\boxed{1}"),
        play("thought", turn(CALL + CALL, 2)),
        play("thought", turn(f"<think>{CALL}</think>{CALL}", 1)),
        play("json", turn(f"{JSON_ALONE};{JSON_ALONE}", 2)),
    ]
    one = found("one_turn", known, plays, [])
    assert (one.count, one.of, one.environments) == (2, 5, ("long", "thought"))


@pytest.mark.parametrize(
    ("text", "stop", "game", "garbage"),
    [
        ("", "end", True, True),
        ("?! \n", "end", True, True),
        ("\\boxed{}", "end", True, False),
        ("7", "end", True, False),
        ("7 " * 400, "end", True, True),
        ("left then right", "length", True, True),
        ("x" * 500 + r" \boxed{7}", "length", True, False),
        ("x" * 500 + "</think>7", "end", True, False),
        ("<think>It is \\boxed{7}.</think>?!", "end", True, True),
        ("Done.", "end", False, False),
        (CALL, "end", False, False),
        (f"<think>{BROKEN}</think>{CALL}", "end", False, False),
        ("...", "end", False, True),
        ("<think>Hm.</think>...", "end", False, True),
    ],
)
def test_garbage_is_a_last_reply_that_cannot_have_meant_to_win(
    text: str, stop: str, game: bool, garbage: bool
) -> None:
    assert says_nothing([{"content": text, "stop": stop}], game) is garbage
    assert says_nothing([{"content": text, "stop": stop, "fault": "json"}], game)
    assert says_nothing([], game)


def test_wins_by_garbage_are_counted_over_all_wins() -> None:
    plays = [play("game", "hm", ""), play("game", r"\boxed{1}"), play("gone", "")]
    one = found("garbage", [environment("game")], plays, [])
    assert (one.count, one.of, one.share) == (1, 2, 0.5)


def test_passwords_are_counted_over_environments_that_both_arms_played() -> None:
    standings = [standing("a", True), standing("b", False), standing("c", True, hinted=0)]
    one = found("hint_only", [], [], standings)
    assert (one.count, one.of, one.environments) == (1, 2, ("a",))


def test_nothing_to_look_at_is_no_share_and_no_alarm() -> None:
    findings = watch([], [], [])
    assert [one.share for one in findings] == [None] * 4
    assert alarms(1, findings, MonitorConfig()) == []
    assert line({"monitors": as_meta(1, findings, MonitorConfig())}) == ""
    assert line({}) == ""


def test_an_alarm_needs_a_share_above_its_limit_and_more_than_one_case() -> None:
    limits = MonitorConfig(one_turn=0.5)
    found = (
        Finding("no_tool_call", 1, 1, ("a",)),
        Finding("one_turn", 2, 4, ("b",)),
        Finding("garbage", 2, 4, ("c", "d")),
    )
    (line_of_garbage,) = alarms(7, found, limits)
    assert line_of_garbage.startswith("shard 7: 2 of 4 wins by a reply that says nothing (50 %")
    assert line_of_garbage.endswith("c, d")
    meta = {"monitors": as_meta(7, found, limits)}
    assert kept_alarms(meta) == (line_of_garbage,)
    assert line(meta) == "no_tool_call 1.00, one_turn 0.50, garbage 0.50"
