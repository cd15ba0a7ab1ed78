"""What templates print, without a service."""

import pytest

from envgen.service.pages.views import Regret
from memory import StandingRecord


def standing(low: float, high: float) -> StandingRecord:
    return StandingRecord(
        environment="e" * 20,
        policy_version=0,
        plays_unhinted=4,
        plays_hinted=4,
        return_unhinted=0.0,
        return_hinted=0.5,
        regret=0.5,
        regret_low=low,
        regret_high=high,
        status="frontier",
        hint_only=False,
        updated=1,
    )


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ((0.25, 0.75), (0.25, 0.75)),
        ((0.5, 0.5), (None, None)),
        ((float("nan"), float("nan")), (None, None)),
    ],
)
def test_an_interval_without_width_is_not_shown(
    ends: tuple[float, float], shown: tuple[float | None, float | None]
) -> None:
    view = Regret.of(standing(*ends))
    assert view is not None
    assert (view.regret, view.low, view.high) == (0.5, *shown)
