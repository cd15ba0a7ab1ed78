"""Measuring a policy: reading designs, the smallest judge, and one small measurement for real."""

from pathlib import Path
from random import Random

import pytest

from sandbox import Pool, Sandbox, SandboxConfig
from solver.embedded import data, measure

WINS = """class WinEnv:
    def reset(self, seed=None):
        self.answer = str(seed)
        return 'say ' + self.answer, {}

    def step(self, action):
        return '', float(self.answer in action), True, False, {}

    def solution(self):
        return [self.answer]
"""


def test_a_design_is_read_only_in_the_agreed_form() -> None:
    (_, answer), program = data.design(Random(2))
    assert measure.parse(answer.text) == (program.source, program.hint)
    assert measure.parse(answer.text.replace("hint:", "tip:")) is None
    assert measure.parse(answer.text + "\nmore") is None
    assert measure.parse("no fence at all") is None


def test_the_family_is_the_class_name_and_broken_code_has_none() -> None:
    assert measure.family_of(WINS) == "Win"
    assert measure.family_of("class (") == "?"
    assert measure.family_of("x = 1") == "?"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("", "", ""),
        ("return [self.answer]", "return ['no']", "solution"),
        ("str(seed)", "'7'", "seeded"),
        ("self.answer in action", "1 / 0", "step:raised"),
    ],
)
async def test_the_smallest_judge_says_what_is_wrong(old: str, new: str, reason: str) -> None:
    async with Sandbox(SandboxConfig()) as sandbox, Pool(sandbox) as pool:
        source = WINS.replace(old, new) if old else WINS
        assert await measure.solvable(pool, source, "", "game") == reason
        if not reason:
            assert await measure.solvable(pool, source, "", "tool_use") == "setting"


def test_figures_are_means_over_environments_and_count_what_is_new() -> None:
    one = measure.Design("b", "game", "s", 1, "t", WINS, "h", "Win", "", True)
    bad = measure.Design("b", "game", "s", 1, "t", "", "", "?", "form", False)
    figures = measure._figures([one, bad], [one], [([0.0, 1.0], [1.0, 1.0])], 0.9, 2)
    assert (figures.valid, figures.new_of_valid) == (0.5, 1.0)
    assert (figures.unhinted, figures.hinted, figures.regret) == (0.5, 1.0, 0.5)
    assert figures.pass_at_plays == 1
    assert figures.families == {"?": "0/1", "Win": "1/1"}
    assert figures.reasons == {"form": 1}


async def test_a_policy_without_a_sound_design_is_measured_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def refuse(source: str, hint: str, setting: str) -> str:
        return "refused"

    monkeypatch.setattr(measure, "training_digests", lambda facts: frozenset())
    figures, designs = await measure.measure(Path(measure.SHIPPED), 1, 1, 0.5, 0, refuse)
    assert len(designs) == 1
    assert (figures.valid, figures.unhinted, figures.regret) == (0, 0, 0)
