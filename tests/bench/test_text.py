"""How figures stand in tables, pages and sentences."""

import pytest

from bench.statistics import Estimate
from bench.text import compact_text, estimate_text, signed_text


@pytest.mark.parametrize(
    ("value", "plain", "signed", "compact"),
    [
        (
            Estimate(0.412, 0.35, 0.474, 9, 72),
            *("0.412 (0.350 to 0.474)", "+0.412 (0.350 to 0.474)", "0.412 ±0.062"),
        ),
        (
            Estimate(-0.05, -0.1, 0.0, 9, 72),
            *("-0.050 (-0.100 to 0.000)", "-0.050 (-0.100 to 0.000)", "-0.050 ±0.050"),
        ),
        (Estimate(0.5, None, None, 1, 8), "0.500", "+0.500", "0.500"),
        (Estimate(None, None, None, 0, 0), "-", "-", "-"),
    ],
)
def test_a_mean_is_told_with_what_is_known_of_it(
    value: Estimate, plain: str, signed: str, compact: str
) -> None:
    assert (estimate_text(value), signed_text(value), compact_text(value)) == (
        plain,
        signed,
        compact,
    )
