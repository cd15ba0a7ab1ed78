"""The base class of tool-use environments, used directly: schemas, validation, what wins."""

import functools
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, List, Literal, Optional, Union  # noqa: UP035

import pytest

from sandbox.envkit import ToolError, ToolUseEnv

KIT = Path(__file__).parents[2] / "sandbox"


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
                "fuzzy": {
                    "type": "boolean",
                    "description": "whether spelling may differ",
                    "default": False,
                },
            },
            "required": ["name"],
            "additionalProperties": False,
        },
    }
    assert send["parameters"]["properties"]["run"] == {
        "type": "string",
        "enum": ["today", "tomorrow"],
        "default": "tomorrow",
    }
    assert listing["parameters"]["properties"] == {
        "tags": {"type": "array", "items": {"type": "string"}},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "weight": {"type": "number", "default": 1.0},
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


class TypesEnv(ToolUseEnv):
    """Every type that an argument may have; the tool repeats what reached it."""

    def build(self, rng: random.Random) -> None:
        self.ask("Go on.", until=lambda s: "end" in s)

    def tool_take(  # type: ignore[no-untyped-def]
        self,
        sizes: dict[str, int] | None = None,
        grid: list[list[float]] | None = None,
        who: Union[int, List[str]] = 0,  # noqa: UP006, UP007
        maybe: Optional[Literal["a", 2]] = None,  # noqa: UP045
        free: Any = None,
        later: "Optional[int]" = None,  # noqa: UP045
        noted: Annotated[bool, "for people"] = False,
        untyped=3,
        quiet: int = None,  # type: ignore[assignment]  # noqa: RUF013
        *,
        named: str = "x",
    ) -> dict[str, Any]:
        """Take.

        Args:
            sizes (dict): of each box,
                in metres
            who: a number
              or names

        Returns:
            what it was given
        """
        given = dict(locals())
        del given["self"]
        return given


def taken(**arguments: object) -> str:
    env = TypesEnv()
    env.reset(0)
    return env.step(act(("take", arguments)))[0][0]["content"]


def test_every_type_has_its_schema() -> None:
    [schema] = TypesEnv.schemas()
    null = {"type": "null"}
    assert schema["function"]["parameters"]["required"] == []
    assert schema["function"]["parameters"]["properties"] == {
        "sizes": {
            "anyOf": [{"type": "object", "additionalProperties": {"type": "integer"}}, null],
            "description": "of each box, in metres",
            "default": None,
        },
        "grid": {
            "anyOf": [
                {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
                null,
            ],
            "default": None,
        },
        "who": {
            "anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}],
            "description": "a number or names",
            "default": 0,
        },
        "maybe": {"anyOf": [{"enum": ["a", 2]}, null], "default": None},
        "free": {"default": None},
        "later": {"anyOf": [{"type": "integer"}, null], "default": None},
        "noted": {"type": "boolean", "default": False},
        "untyped": {"type": "integer", "default": 3},
        "quiet": {"anyOf": [{"type": "integer"}, null], "default": None},
        "named": {"type": "string", "default": "x"},
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sizes", {"a": 1}),
        ("sizes", None),
        ("grid", [[1, 2.5], []]),
        ("who", ["A", "B"]),
        ("maybe", 2),
        ("free", {"deep": [None]}),
        ("later", 7),
        ("quiet", None),
        ("named", "n"),
    ],
)
def test_values_that_fit_reach_the_tool_as_they_are(name: str, value: object) -> None:
    assert json.loads(taken(**{name: value}))[name] == value


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("sizes", {"a": "1"}, "must be object of integer or null"),
        ("grid", [[True]], "must be array of array of number or null"),
        ("who", [1], "must be integer or array of string"),
        ("maybe", "b", 'must be one of "a", 2 or null, not "b"'),
        ("noted", 1, "must be boolean, not 1"),
        ("untyped", "3", 'must be integer, not "3"'),
        ("named", None, "must be string, not null"),
    ],
)
def test_values_that_do_not_fit_are_told_with_what_would(
    name: str, value: object, wanted: str
) -> None:
    assert taken(**{name: value}).startswith(f"error: the argument `{name}` of take {wanted}")


@pytest.mark.parametrize(
    "kind", [set, bytes, dict[int, str], tuple[int, str], DeskEnv, "ToolError"]
)
def test_a_type_that_json_does_not_have_is_refused_with_those_that_may_be_used(kind: Any) -> None:
    class OddEnv(ToolUseEnv):
        def tool_odd(self, given: kind) -> str:
            return ""

    with pytest.raises(TypeError, match="use str, int, float, bool, list, dict, Optional"):
        OddEnv.schemas()


def test_arguments_without_a_name_are_refused() -> None:
    class StarEnv(ToolUseEnv):
        def tool_star(self, *names: str) -> str:
            return ""

    class SlashEnv(ToolUseEnv):
        def tool_slash(self, name: str, /) -> str:
            return ""

    for kind in (StarEnv, SlashEnv):
        with pytest.raises(TypeError, match="must name its arguments"):
            kind.schemas()


def test_a_decorated_and_a_static_tool_keep_their_signatures() -> None:
    def logged(method: Any) -> Any:
        @functools.wraps(method)
        def inner(*args: Any, **kwargs: Any) -> Any:
            return method(*args, **kwargs)

        return inner

    class WrappedEnv(TypesEnv):
        @logged
        def tool_take(self, number: int) -> str:
            """Take one."""
            return f"took {number}"

        @staticmethod
        def tool_add(a: int, b: int = 1) -> str:
            """Add."""
            return str(a + b)

    take, add = [schema["function"]["parameters"] for schema in WrappedEnv.schemas()]
    assert list(take["properties"]) == ["number"] and add["required"] == ["a"]
    env = WrappedEnv()
    env.reset(0)
    messages = env.step(act(("take", {"number": 5}), ("add", {"a": 2})))[0]
    assert [message["content"] for message in messages] == ["took 5", "3"]


def test_all_missing_arguments_are_named_at_once() -> None:
    class PairEnv(TypesEnv):
        def tool_pair(self, left: int, right: list[str]) -> str:
            """Pair.

            right: names
            """
            return ""

    env = PairEnv()
    env.reset(0)
    assert env.step(act(("pair", {})))[0][0]["content"] == (
        "error: pair needs the arguments `left` (integer), `right` (array of string): names"
    )


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_none_never_reaches_a_tool(number: str) -> None:
    env = started()
    action = '{"content": "", "tool_calls": [{"name": "list", "arguments": {"weight": %s}}]}'
    messages = env.step(action % number)[0]
    assert messages[0]["content"].startswith("error: the action is not JSON")
    messages = env.step(act(("list", '{"tags": [], "weight": ' + number + "}")))[0]
    assert messages[0]["content"] == "error: the arguments of list are not a JSON object"


def test_what_is_no_text_is_not_repeated_to_the_host() -> None:
    messages = started().step(act(("a\ud800\0b", {}), ("find", {"name\udfff": 1})))[0]
    for message in messages:
        message["content"].encode()
        assert "\0" not in message["content"] and "?" in message["content"]


def test_too_many_calls_at_once_are_refused_and_none_is_made() -> None:
    env = started()
    messages = env.step(act(*[("drop", {})] * 33))[0]
    assert len(messages) == 1 and "at most 32 calls" in messages[0]["content"]
    assert env.state["parcels"] == 3


@pytest.mark.parametrize("advance", ["on_goal", "on_reply"])
def test_words_never_win_even_where_a_goal_looks_at_the_turns(advance: str) -> None:
    class TurnsEnv(DeskEnv):
        def build(self, rng: random.Random) -> None:
            self.ask("Wait.", until=lambda s: self._turns > 0)

    TurnsEnv.advance = advance
    env = TurnsEnv()
    env.reset(0)
    rewards = [env.step(act(content="I waited."))[1] for _ in range(3)]
    assert rewards == [0.0, 0.0, 0.0]


def test_an_unknown_way_to_advance_is_refused() -> None:
    class EagerEnv(DeskEnv):
        advance = "at_once"

    with pytest.raises(ValueError, match='must be "on_goal" or "on_reply"'):
        EagerEnv().reset(0)


def test_a_set_is_told_in_one_order() -> None:
    class SetEnv(TypesEnv):
        def tool_take(self) -> dict[str, set[str]]:  # type: ignore[override]
            return {"names": {"c", "a", "b"}}

    env = SetEnv()
    env.reset(0)
    assert env.step(act(("take", {})))[0][0]["content"] == '{"names": ["a", "b", "c"]}'


class PagesEnv(ToolUseEnv):
    """Paging, a tool that fails twice, and one that only distracts, as one would write them."""

    def build(self, rng: random.Random) -> None:
        self.state = {"rows": [rng.randint(100, 999) for _ in range(7)], "fails": 2, "sent": None}
        self.ask("Send the largest.", until=lambda s: s["sent"] == max(s["rows"]))

    def tool_rows(self, page: int = 1) -> dict[str, Any]:
        """List rows."""
        items = self.state["rows"][3 * page - 3 : 3 * page]
        if page < 1 or not items:
            raise ToolError(f"there is no page {page}")
        more = 3 * page < len(self.state["rows"])
        return {"items": items, "next_page": page + 1 if more else None}

    def tool_send(self, row: int) -> None:
        """Send a row."""
        if self.state["fails"]:
            self.state["fails"] -= 1
            raise ToolError("busy, try again")
        self.state["sent"] = row

    def tool_average(self) -> float:
        """Average the rows."""
        return sum(self.state["rows"]) / 7


def test_paging_failing_and_distracting_tools_play_together() -> None:
    env = PagesEnv()
    env.reset(3)
    page: int | None = 1
    rows: list[int] = []
    while page:
        answer = json.loads(env.step(act(("rows", {"page": page})))[0][0]["content"])
        rows, page = rows + answer["items"], answer["next_page"]
    assert "there is no page 4" in env.step(act(("rows", {"page": 4})))[0][0]["content"]
    assert env.step(act(("average", {})))[1:3] == (0.0, False)
    answers = [env.step(act(("send", {"row": max(rows)}))) for _ in range(3)]
    assert [one[0][0]["content"] for one in answers] == ["error: busy, try again"] * 2 + ["done"]
    assert answers[-1][1:3] == (1.0, True)


def alone(program: str) -> str:
    """Run a program that has nothing imported but the kit; returns what it prints."""
    start = f"import sys; sys.path.append({str(KIT)!r}); import envkit; "
    run = [sys.executable, "-I", "-S", "-c", start + program]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()


def test_it_imports_none_of_the_slow_modules() -> None:
    program = "print(*{'json', 're', 'typing', 'inspect', 'enum'} & set(sys.modules))"
    assert alone(program) == ""


def test_broken_json_is_told_also_where_json_was_never_imported() -> None:
    texts = ['{"a', '{"a": ', "[1 2]", "nul", "{}x", '"\\u12"', "[" * 100_000, "NaN", "1e999"]
    program = f"""
for text in {texts!r}:
    try:
        print('taken:', text[:20], envkit.loads(text))
    except ValueError:
        pass
assert 'json' not in sys.modules
print(envkit.loads(' {{"a": [1, -2.5, true, null, "x"]}} '))"""
    assert alone(program) == "{'a': [1, -2.5, True, None, 'x']}"
