"""Programs of the reference project's contract, unchanged, in the real jail: ``reference/*.py``."""

import ast
import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox import (
    EnvironmentFault,
    Jail,
    JailInfo,
    Observation,
    Sandbox,
    SandboxConfig,
    Step,
    episode_return,
)

PROGRAMS = Path(__file__).with_name("reference")
CALM = SandboxConfig(load_s=20.0, reset_s=20.0, step_s=20.0, episode_s=60.0, memory_mb=64)
TOOLS = ("archive", "concierge", "couriers", "freezer", "ledger", "thermostat", "tickets")
SOLVED = ("archive", "concierge", "couriers", "freezer", "ledger", "thermostat")
SEEDS = (5, 1, 2, 77, 123_456)
DONE = "<answer>done</answer>"


def text_of(name: str) -> str:
    return (PROGRAMS / f"{name}.py").read_text()


@asynccontextmanager
async def jailed(source: str) -> AsyncIterator[Jail]:
    async with Sandbox(CALM) as sandbox:
        jail = await sandbox.open(source)
        yield jail
        await jail.close()


async def play(jail: Jail, seed: int, *actions: str) -> tuple[float, list[Step]]:
    """Play until the end; returns the episode's return and its steps."""
    steps = []
    async with await jail.episode(seed) as episode:
        for action in actions:
            steps.append(await episode.step(action))
            if steps[-1].terminated or steps[-1].truncated:
                break
    return episode_return(steps[-1].reward, steps[-1].terminated), steps


async def solution(jail: Jail, seed: int) -> list[str]:
    async with await jail.episode(seed) as episode:
        return await episode.solution()


def call(tool: str, /, **arguments: object) -> str:
    return f"<tool_call>{json.dumps({'name': tool, 'arguments': arguments})}</tool_call>"


def said(step: Step) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in step.observation]


# ---- programs that are sound


@dataclass(frozen=True)
class Seen:
    """What one program said about itself and how its plays went; seeds map to them."""

    info: JailInfo
    first: Observation
    solved: dict[int, tuple[list[str], float, list[Step]]]
    forms: list[tuple[float, list[Step]]]
    words: tuple[float, list[Step]] | None


@pytest.fixture(scope="module")
def seen() -> dict[str, Seen]:
    """Play every sound tool program once; the tests that follow only look at what came out."""

    async def one(name: str) -> Seen:
        async with jailed(text_of(name)) as jail:
            async with await jail.episode(1) as episode:
                first = episode.observation
            if not jail.info.has_solution:
                return Seen(jail.info, first, {}, [], None)
            solved = {}
            for seed in SEEDS:
                actions = await solution(jail, seed)
                solved[seed] = (actions, *await play(jail, seed, *actions))
            actions = solved[SEEDS[0]][0]
            texts = []
            for action in map(json.loads, actions):
                calls = [call(c["name"], **c["arguments"]) for c in action["tool_calls"]]
                texts.append("".join(calls) or action["content"])
            wrapped = [json.dumps({"content": text, "tool_calls": []}) for text in texts]
            forms = [await play(jail, SEEDS[0], *form) for form in (actions, texts, wrapped)]
            last = actions[-1]
            words = await play(jail, SEEDS[0], last, DONE, "I am done.", last)
            return Seen(jail.info, first, solved, forms, words)

    async def batch() -> dict[str, Seen]:
        return {name: await one(name) for name in TOOLS}

    return asyncio.run(batch())


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_program_looks_like_any_other_tool_environment(
    seen: dict[str, Seen], name: str
) -> None:
    info = seen[name].info
    assert info.setting == "tool_use" and info.tools
    assert info.has_solution == (name in SOLVED)
    for tool in info.tools:
        assert set(tool["function"]) == {"name", "description", "parameters"}
        parameters = tool["function"]["parameters"]
        assert parameters["type"] == "object"
        assert set(parameters["required"]) <= set(parameters["properties"])
    assert [message.role for message in seen[name].first] == ["user"]
    assert seen[name].first[0].content.strip()


@pytest.mark.parametrize("name", SOLVED)
def test_a_solution_in_prose_or_as_a_list_wins_on_every_seed(
    seen: dict[str, Seen], name: str
) -> None:
    assert len({str(actions) for actions, _, _ in seen[name].solved.values()}) > 1
    for actions, gained, steps in seen[name].solved.values():
        assert gained == 1.0 and len(steps) == len(actions) >= 2
        assert {step.reward for step in steps[:-1]} == {0.0}


@pytest.mark.parametrize("name", SOLVED)
def test_our_form_and_the_text_form_of_a_play_give_the_same(
    seen: dict[str, Seen], name: str
) -> None:
    ours, texts, wrapped = seen[name].forms
    assert ours[0] == 1.0
    assert ours == texts == wrapped


@pytest.mark.parametrize("name", SOLVED)
def test_the_closing_words_without_the_calls_lose(seen: dict[str, Seen], name: str) -> None:
    words = seen[name].words
    assert words is not None
    gained, steps = words
    assert gained == 0.0
    assert all(step.reward <= 0.0 for step in steps if step.terminated)


async def test_instructions_are_told_once_one_after_another() -> None:
    async with jailed(text_of("concierge")) as jail:
        async with await jail.episode(3) as episode:
            [first] = episode.observation
            assert first.content == "Wake room 222 at 9."
        asked = ("user", "Make it snow tomorrow, please.")
        _, [step] = await play(jail, 3, call("wake", room=222, hour=9))
        assert said(step) == [("tool", "set"), asked]
    async with jailed(text_of("freezer")) as jail:
        found = json.loads((await solution(jail, 3))[0])["tool_calls"][0]["arguments"]["sample"]
        _, [step] = await play(jail, 3, call("find", sample=found))
        assert [role for role, _ in said(step)] == ["tool"], "its own text tells the next one"
        assert "Put it into drawer" in said(step)[0][1]


async def test_a_program_that_never_moves_on_by_itself_is_played_by_its_criteria() -> None:
    async with jailed(text_of("tickets")) as jail:
        _, [listed] = await play(jail, 9, call("list_open"))
        lowest = min(json.loads(said(listed)[0][1]))
        gained, steps = await play(
            jail,
            9,
            call("archive", ticket=lowest),
            call("read", ticket=lowest),
            call("assign", ticket=lowest, to="Kim"),
            call("archive", ticket=lowest),
            "It is archived.",
        )
        assert said(steps[0]) == [("tool", "error: ValueError: nobody has taken it on yet")]
        assert said(steps[1])[1] == ("user", "Give it to Kim.")
        assert said(steps[2]) == [("tool", "done"), ("user", "And archive it.")]
        assert gained == 1.0 and steps[-1].terminated, "when all is done any closing words do"


async def test_several_calls_of_one_reply_run_in_order() -> None:
    async with jailed(text_of("freezer")) as jail:
        actions = [json.loads(action) for action in await solution(jail, 4)]
        calls = [one for action in actions for one in action["tool_calls"]]
        gained, steps = await play(
            jail, 4, json.dumps({"content": DONE, "tool_calls": calls}), DONE
        )
        assert [role for role, _ in said(steps[0])] == ["tool"] * 3
        assert not steps[0].terminated, "a reply that makes calls does not answer as well"
        assert gained == 1.0


async def test_wrong_answers_are_told_what_is_left_and_a_second_one_in_a_row_loses() -> None:
    async with jailed(text_of("concierge")) as jail:
        gained, steps = await play(jail, 3, DONE, "Well?")
        assert said(steps[0]) == [("user", "That is not done yet: Wake room 222 at 9.")]
        assert (gained, steps[1].terminated) == (0.0, True)
    async with jailed(text_of("archive")) as jail:
        actions = await solution(jail, 3)
        gained, steps = await play(jail, 3, "<answer>shelf 1</answer>", *actions)
        assert said(steps[0]) == [("user", "No, look again.")], "its own words"
        assert gained == 1.0


async def test_its_own_step_execute_tool_and_get_tools_are_used() -> None:
    async with jailed(text_of("thermostat")) as jail:
        _, [step] = await play(jail, 3, call("thermometer"))
        assert said(step) == [("tool", "8\n(Outside it rains.)")]
        gained, steps = await play(jail, 3, call("heat", degrees=1), "<answer>warm</answer>")
        assert (gained, steps[-1].terminated) == (0.0, False)
    async with jailed(text_of("archive")) as jail:
        assert [tool["function"]["name"] for tool in jail.info.tools] == ["look_up"]
        _, steps = await play(jail, 3, *[call("look_up", title="x")] * 9)
        assert said(steps[1])[0][1].startswith("(2) ")
        assert len(steps) == 8 and steps[-1].truncated, "it states eight turns"


async def test_sloppy_schemas_become_ones_that_hold_for_every_seed() -> None:
    async with jailed(text_of("tickets")) as jail:
        by_name = {tool["function"]["name"]: tool["function"] for tool in jail.info.tools}
        assert by_name["assign"]["parameters"] == {
            "type": "object",
            "properties": {
                "ticket": {"type": "integer"},
                "to": {"type": "string", "enum": ["Kim", "Lou"]},
            },
            "required": ["ticket"],
            "additionalProperties": False,
        }
        assert by_name["read"]["parameters"]["required"] == ["ticket"]
    async with jailed(text_of("couriers")) as jail:
        by_name = {tool["function"]["name"]: tool["function"] for tool in jail.info.tools}
        assert by_name["send_home"]["parameters"]["properties"] == {"name": {"type": "string"}}
        page = by_name["rounds"]["parameters"]["properties"]["page"]
        assert page == {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 1}
        _, [step] = await play(jail, 3, call("send_home", name="Zoe"))
        assert "must be one of" in said(step)[0][1], "the choices of this seed are checked"


WRONG = (
    (call("find"), "error: find needs the argument `sample` (string)"),
    (call("find", sample=3), "error: the argument `sample` of find must be string, not 3"),
    (call("find", sample="x", y=1), "error: find has no argument `y`; its arguments: `sample`"),
    (call("move", sample="x", drawer="Z"), "error: the argument `drawer` of move must be one of"),
    (call("fly"), "error: there is no tool `fly`; the tools are: find, move, note"),
    ("<tool_call>find</tool_call>", "error: what stands in <tool_call> is not a JSON object"),
    ('<tool_call>{"n": 1}</tool_call>', "error: each tool call must be"),
    ('{"tool_calls": 3}', "error: `tool_calls` must be a list"),
    ('{"content', "error: the action is not JSON"),
)


async def test_a_wrong_call_is_answered_with_a_text_to_act_on() -> None:
    async with jailed(text_of("freezer")) as jail:
        _, steps = await play(jail, 1, *(given for given, _ in WRONG))
        for step, (given, problem) in zip(steps, WRONG, strict=True):
            assert said(step)[0][0] == "tool" and said(step)[0][1].startswith(problem), given
            assert (step.reward, step.terminated) == (0.0, False)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "from tool_use_base_env import ToolUseBaseEnv",
        "from spade.core.envs.tool_use_base_env import ToolUseBaseEnv",
        "from spare.core.envs import ToolUseBaseEnv",
        "from .tool_use_base_env import ToolUseBaseEnv",
        "from somewhere.else_ import ToolUseBaseEnv",
        "import spade.core.envs.tool_use_base_env as m; ToolUseBaseEnv = m.ToolUseBaseEnv",
    ],
)
async def test_the_base_class_resolves_however_it_is_imported(line: str) -> None:
    async with jailed(line + "\n" + text_of("freezer")) as jail:
        assert jail.info.setting == "tool_use"
        assert (await play(jail, 2, *await solution(jail, 2)))[0] == 1.0


async def test_names_that_a_game_forgot_to_import_are_still_a_fault() -> None:
    source = text_of("plain_game").replace("import re\n", "")
    async with jailed(source) as jail:
        with pytest.raises(EnvironmentFault, match="name 're' is not defined"):
            await play(jail, 1, "\\boxed{1}")


async def test_plain_games_are_valid_as_they_stand() -> None:
    async with jailed(text_of("plain_game")) as jail:
        assert (jail.info.setting, jail.info.tools) == ("game", ())
        assert (await play(jail, 1, *await solution(jail, 1)))[0] == 1.0
    async with jailed(text_of("plain_calls")) as jail:
        assert (jail.info.setting, jail.info.has_solution) == ("game", False)
        async with await jail.episode(1) as episode:
            line = int(episode.observation[0].content.split()[3])
        assert (await play(jail, 1, DONE, call("plug", line=line), DONE))[0] == 1.0
        assert (await play(jail, 1, call("plug", line=line + 1), DONE, DONE))[0] == 0.0


# ---- programs with the reference's known flaws


async def test_done_is_not_enough_though_the_program_says_so() -> None:
    async with jailed(text_of("flaw_done_is_enough")) as jail:
        assert not jail.info.has_solution, "prose without calls is no solution"
        async with await jail.episode(1) as episode:
            lamp = int(episode.observation[0].content.split()[2].strip("."))
        gained, steps = await play(jail, 1, DONE)
        assert (gained, steps[0].terminated) == (0.0, False)
        assert (await play(jail, 1, DONE, DONE))[0] == 0.0
        sell, invoice = call("sell", lamp=lamp), call("invoice", lamp=lamp)
        assert (await play(jail, 1, sell, DONE))[0] == 0.0, "one of two instructions"
        assert (await play(jail, 1, call("sell", lamp=lamp + 1), invoice, DONE))[0] == 0.0
        assert (await play(jail, 1, sell, invoice, DONE))[0] == 1.0


async def test_an_answer_that_its_own_step_takes_without_any_call_loses() -> None:
    async with jailed(text_of("flaw_any_answer")) as jail:
        gained, [step] = await play(jail, 1, "<answer>42</answer>")
        assert (gained, step.reward, step.terminated) == (0.0, 0.0, True)
        gained, steps = await play(jail, 1, call("ask"), "<answer>42</answer>")
        assert steps[-1].reward == 7.0 and gained == 1.0, "a return is clamped, as everywhere"


async def test_a_reward_that_is_no_number_is_a_fault() -> None:
    async with jailed(text_of("flaw_nan")) as jail:
        for actions in ([DONE], [call("weigh"), DONE]):
            with pytest.raises(EnvironmentFault, match="reward nan, which is not finite") as caught:
                await play(jail, 1, *actions)
            assert (caught.value.stage, caught.value.reason) == ("step", "contract")


async def test_an_exception_in_reset_is_a_fault_of_reset() -> None:
    async with jailed(text_of("flaw_reset_raises")) as jail:
        faults = 0
        for seed in range(6):
            try:
                async with await jail.episode(seed) as episode:
                    assert "gates" in episode.observation[0].content
            except EnvironmentFault as fault:
                assert (fault.stage, fault.reason) == ("reset", "raised")
                assert "KeyError: 'Ulm'" in fault.detail
                faults += 1
        assert 0 < faults < 6


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("flaw_free_step", "instruction 2 is done before anything was called"),
        ("flaw_uneven", "2 _user_messages but 1 _message_criteria"),
    ],
)
async def test_instructions_that_cannot_be_judged_are_a_fault(name: str, message: str) -> None:
    async with jailed(text_of(name)) as jail:
        with pytest.raises(EnvironmentFault, match=message) as caught:
            await jail.episode(1)
        assert caught.value.stage == "reset"


async def test_prose_that_does_not_win_is_no_solution() -> None:
    async with jailed(text_of("flaw_never_true")) as jail:
        assert not jail.info.has_solution
        assert (await play(jail, 1, call("order", item="lamp"), DONE))[0] == 0.0


async def test_a_crash_within_a_tool_is_told_and_counts_as_no_call() -> None:
    async with jailed(text_of("flaw_tools_crash")) as jail:
        gained, steps = await play(jail, 1, call("count"), "<answer>500</answer>")
        assert said(steps[0]) == [("tool", "error: NameError: name 'tilll' is not defined")]
        assert gained == 0.0
        [_, check] = jail.info.tools
        properties = check["function"]["parameters"]["properties"]
        assert list(properties) == ["account_type"], (
            "an argument is called what its method calls it"
        )


@pytest.mark.parametrize("value", ["None", "''", "float('nan')"])
async def test_nothing_expected_is_matched_by_no_answer(value: str) -> None:
    source = (
        "class VoidEnv(ToolUseBaseEnv):\n"
        "    def reset(self, seed=None):\n"
        f"        self._expected_answer = {value}\n"
        "        return 'Look, then answer.', {}\n"
        "    def tool_look(self):\n"
        "        return 'nothing'\n"
    )
    async with jailed(source) as jail:
        for answer in ("None", "", "inf", "0"):
            gained, steps = await play(jail, 1, call("look"), f"<answer>{answer}</answer>")
            assert (gained, steps[-1].terminated) == (0.0, False)


@pytest.mark.parametrize("value", ["5", "(1, 2)", "('x', 0.0, True, False)", "None"])
async def test_a_step_of_another_shape_is_a_fault(value: str) -> None:
    source = (
        "class OddEnv(ToolUseBaseEnv):\n"
        "    def reset(self, seed=None): return 'Go.', {}\n"
        f"    def step(self, action): return {value}\n"
        "    def tool_go(self): return 'gone'\n"
    )
    async with jailed(source) as jail:
        for action in (call("go"), DONE):
            with pytest.raises(EnvironmentFault, match="step\\(\\) must return") as caught:
                await play(jail, 1, action)
            assert caught.value.reason == "contract"


async def test_a_solution_that_raises_or_asks_for_tools_that_are_not_there_is_none() -> None:
    for body in ("raise KeyError(1)", "return 'look(eval(1)) ANSWER: 1'", "return 3", "return ''"):
        source = (
            "class ProseEnv(ToolUseBaseEnv):\n"
            "    def reset(self, seed=None):\n"
            "        self._expected_answer = 1\n"
            "        return 'Look.', {}\n"
            "    def tool_look(self, x=0): return '1'\n"
            f"    def solution(self): {body}\n"
        )
        async with jailed(source) as jail:
            assert not jail.info.has_solution


def test_there_are_enough_programs_and_each_has_one_class() -> None:
    files = sorted(PROGRAMS.glob("*.py"))
    assert len([path for path in files if path.stem.startswith("flaw_")]) >= 6
    assert len(files) >= 16
    for path in files:
        kinds = [
            node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)
        ]
        assert len(kinds) == 1 and kinds[0].name.endswith("Env")
