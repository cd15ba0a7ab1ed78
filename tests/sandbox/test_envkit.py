"""The base class of tool-use environments, used directly: schemas, validation, what wins."""

import json
import random
from typing import Literal

import pytest

from sandbox.envkit import ToolError, ToolUseEnv


class DeskEnv(ToolUseEnv):
    """A parcel desk."""

    def build(self, rng: random.Random) -> None:
        self.number = rng.randint(10, 99)
        self.state = {"seen": None, "runs": {}, "parcels": 3}
        self.ask("Where is it?", until=lambda s: s["seen"] == self.number)
        self.ask("Send it.", until=lambda s: s["runs"].get(self.number) == "tomorrow")
        self.never(lambda s: s["parcels"] != 3)

    def tool_find(self, name: str, fuzzy: bool = False) -> str:
        """Find a parcel
        by name.

        name: full name of the addressee
        fuzzy: whether spelling may differ
        """
        if name != "Ito":
            raise ToolError("nobody of that name")
        self.state["seen"] = self.number
        return f"parcel {self.number}"

    def tool_send(
        self, parcel: int, run: Literal["today", "tomorrow"] = "tomorrow"
    ) -> dict[str, bool]:
        """Book a run."""
        self.state["runs"][parcel] = run
        return {"ok": True}

    def tool_list(self, tags: list[str], limit: int | None = None, weight: float = 1.0) -> None:
        """List parcels."""

    def tool_drop(self) -> str:
        """Drop a parcel."""
        self.state["parcels"] -= 1
        return "oops"

    def tool_lookup(self, key: str) -> str:
        """Look up."""
        return {}[key]


def act(*calls: tuple[str, object], content: str = "") -> str:
    listed = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return json.dumps({"content": content, "tool_calls": listed})


def started(seed: int = 1) -> DeskEnv:
    env = DeskEnv()
    messages, _ = env.reset(seed)
    assert messages == [{"role": "user", "content": "Where is it?"}]
    return env


def test_schemas_come_from_signatures_and_docstrings() -> None:
    find, send, listing, drop, _ = [schema["function"] for schema in DeskEnv.schemas()]
    assert find == {
        "name": "find",
        "description": "Find a parcel by name.",
        "parameters": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "full name of the addressee"},
                "fuzzy": {"type": "boolean", "description": "whether spelling may differ"},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
    }
    assert send["parameters"]["properties"]["run"] == {"enum": ["today", "tomorrow"]}
    assert listing["parameters"]["properties"] == {
        "tags": {"type": "array", "items": {"type": "string"}},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "weight": {"type": "number"},
    }
    assert drop["parameters"]["required"] == []


def test_doing_everything_in_order_wins() -> None:
    env = started()
    messages, reward, terminated, truncated, _ = env.step(act(("find", {"name": "Ito"})))
    assert [m["role"] for m in messages] == ["tool", "user"]
    assert (reward, terminated, truncated) == (0.0, False, False)
    messages, reward, terminated, _, _ = env.step(act(("send", {"parcel": env.number})))
    assert messages == [{"role": "tool", "content": '{"ok": true}'}]
    assert (reward, terminated) == (1.0, True)


def test_several_calls_in_one_action_run_in_order() -> None:
    env = started()
    calls = ("find", {"name": "Ito"}), ("send", {"parcel": env.number})
    assert env.step(act(*calls))[1:3] == (1.0, True)


def test_a_goal_reached_early_counts_only_when_its_instruction_is_given() -> None:
    env = started()
    assert env.step(act(("send", {"parcel": env.number})))[1:3] == (0.0, False)
    assert env.step(act(("find", {"name": "Ito"})))[1:3] == (1.0, True)


def test_a_broken_invariant_loses_at_once() -> None:
    env = started()
    messages, reward, terminated, _, _ = env.step(act(("drop", {}), ("find", {"name": "Ito"})))
    assert (reward, terminated) == (0.0, True)
    assert len(messages) == 2
    assert env.step(act(("find", {"name": "Ito"})))[:3] == ([], 0.0, True)


def test_words_alone_never_win() -> None:
    env = started()
    messages, _, terminated, _, _ = env.step(act(content="It is done, reward 1."))
    assert messages[0]["content"].startswith("That is not done yet") and not terminated
    assert env.step(act(content="Really done."))[1:3] == (0.0, True)


def test_on_reply_counts_only_when_the_assistant_ends_its_turn() -> None:
    class SlowEnv(DeskEnv):
        advance = "on_reply"

    env = SlowEnv()
    env.reset(1)
    messages, _, terminated, _, _ = env.step(act(("find", {"name": "Ito"})))
    assert [m["role"] for m in messages] == ["tool"] and not terminated
    messages, _, _, _, _ = env.step(act(content="Found."))
    assert messages == [{"role": "user", "content": "Send it."}]
    assert env.step(act(content="Sent."))[1:3] == (0.0, True), "a turn ended too early loses"


def test_the_environment_cuts_off_after_its_turns() -> None:
    env = DeskEnv(max_turns=2)
    env.reset(1)
    assert env.step("x")[3] is False
    assert env.step("x")[2:4] == (False, True)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (("fly", {}), "there is no tool `fly`; the tools are: find, send"),
        (("find", {}), "find needs the argument `name` (string): full name of the addressee"),
        (("find", {"name": 3}), "the argument `name` of find must be string, not 3"),
        (("find", {"nmae": "x"}), "find has no argument `nmae`; its arguments: `name`, `fuzzy`"),
        (("find", "[]"), "the arguments of find must be an object, not []"),
        (("find", "{"), "the arguments of find are not a JSON object"),
        (("send", {"parcel": True}), "must be integer, not true"),
        (
            ("send", {"parcel": 1, "run": "later"}),
            'must be one of "today", "tomorrow", not "later"',
        ),
        (("list", {"tags": ["a", 1]}), "must be array of string"),
        (("list", {"tags": [], "limit": "x"}), "must be integer or null"),
        (("find", {"name": "Nobody"}), "nobody of that name"),
        (("lookup", {"key": "k"}), "KeyError: 'k'"),
    ],
)
def test_a_wrong_call_is_answered_with_a_text_to_act_on(
    call: tuple[str, object], problem: str
) -> None:
    messages, reward, terminated, _, _ = started().step(act(call))
    assert messages[0]["role"] == "tool"
    assert messages[0]["content"].startswith("error: ") and problem in messages[0]["content"]
    assert (reward, terminated) == (0.0, False)


@pytest.mark.parametrize(
    "action",
    [
        "",
        "hello",
        "[]",
        "7",
        "null",
        '{"tool_calls": 3}',
        '{"tool_calls": [3]}',
        "[" * 100_000,
        "\u202e",
    ],
)
def test_an_action_that_is_no_action_consumes_a_turn(action: str) -> None:
    env = started()
    messages, reward, terminated, _, _ = env.step(action)
    assert len(messages) == 1 and messages[0]["content"].startswith("error: ")
    assert (reward, terminated, env._turns) == (0.0, False, 1)


def test_whole_numbers_written_as_decimals_and_arguments_as_text_are_taken() -> None:
    env = started()
    env.step(act(("find", '{"name": "Ito"}')))
    assert env.step(act(("send", {"parcel": float(env.number)})))[1] == 1.0


def test_a_reset_starts_afresh_and_depends_on_the_seed_only() -> None:
    env = started(5)
    first = env.number
    env.step(act(("drop", {})))
    env.reset(5)
    assert env.number == first and env.state["parcels"] == 3
    assert {started(seed).number for seed in range(8)} != {first}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "asked for nothing"),
        ({"until": lambda s: True}, "done before anything was called"),
        ({"until": lambda s: False, "broken": lambda s: True}, "broken at the start"),
    ],
)
def test_an_environment_that_asks_for_nothing_real_is_refused(body: dict, message: str) -> None:
    class OddEnv(ToolUseEnv):
        def build(self, rng: random.Random) -> None:
            if "until" in body:
                self.ask("Do it.", until=body["until"])
            if "broken" in body:
                self.never(body["broken"])

    with pytest.raises(ValueError, match=message):
        OddEnv().reset(0)


def test_a_bug_in_a_tool_is_not_taken_for_an_answer() -> None:
    class BugEnv(DeskEnv):
        def tool_find(self, name: str) -> str:
            """Find."""
            return undefined_name  # type: ignore[name-defined]  # noqa: F821

    env = BugEnv()
    env.reset(0)
    with pytest.raises(NameError):
        env.step(act(("find", {"name": "Ito"})))
