import math

import pytest

from envgen.config import DesignerConfig, MonitorConfig, ProducerConfig


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"temperature": math.nan}, "temperature must be above 0"),
        ({"temperature": math.inf}, "temperature must be above 0"),
        ({"temperature": 0.0}, "temperature must be above 0"),
        ({"examples": -1}, "must not be negative"),
        ({"skills": ()}, "skills is empty"),
        ({"skills": ("juggling",)}, "unknown skill 'juggling'"),
        ({"levels": (0,)}, "levels must be"),
        ({"repair_turns": -1}, "must not be negative"),
        ({"prompt": "short", "learning": "context"}, "no room for a playbook"),
        ({"prompt": "short", "hint": "separate"}, 'needs prompt = "full"'),
    ],
)
def test_a_designer_that_cannot_work_is_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DesignerConfig(**values)  # type: ignore[arg-type]


def test_a_group_of_designs_is_never_cut_short() -> None:
    with pytest.raises(ValueError, match="not a multiple"):
        ProducerConfig(designs=10, designs_per_brief=4)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"designs": 10**12}, "designs = 1000000000000: a round has at most 100000"),
        ({"parallel_certificates": 10**9}, "parallel_certificates must be at most 4096"),
    ],
)
def test_more_than_a_round_could_hold_is_refused(values: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ProducerConfig(**values)


def test_limits_of_monitors_are_shares() -> None:
    with pytest.raises(ValueError, match="garbage is a share"):
        MonitorConfig(garbage=2.0)


def test_a_round_has_room_for_a_design() -> None:
    with pytest.raises(ValueError, match="in_flight must be at least 1"):
        ProducerConfig(in_flight=0)
