import math

import pytest

from envgen.config import DesignerConfig, ProducerConfig


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
    ],
)
def test_a_designer_that_cannot_work_is_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DesignerConfig(**values)  # type: ignore[arg-type]


def test_a_group_of_designs_is_never_cut_short() -> None:
    with pytest.raises(ValueError, match="not a multiple"):
        ProducerConfig(designs=10, designs_per_brief=4)
