"""Charts as SVG of a fixed size."""

import xml.etree.ElementTree as ET

import pytest

from bench.charts import Point, Series, lines


def test_text_in_a_chart_is_escaped() -> None:
    picture = lines("<b>&", [Series("<i>", (Point(1, 0.5),))], x_label="<u>")
    assert "<b>" not in picture and "<i>" not in picture and "<u>" not in picture


@pytest.mark.parametrize("count", [1, 2, 12, 13, 200])
def test_charts_of_any_length_are_well_formed(count: int) -> None:
    points = tuple(Point(x, x / count, x / count - 0.1, x / count + 0.1) for x in range(count))
    root = ET.fromstring(lines("t", [Series("a", points), Series("b", points)], x_label="x"))
    assert len(root.findall(".//circle")) == 2 * count


def test_a_gap_breaks_the_line() -> None:
    points = (Point(1, 0.1), Point(2, None), Point(3, 0.2))
    root = ET.fromstring(lines("t", [Series("a", points)], x_label="x"))
    assert len(root.findall(".//polyline")) == 2


def test_values_that_are_all_equal_or_out_of_range_still_draw() -> None:
    same = tuple(Point(x, 3.0) for x in range(4))
    assert "polyline" in lines("t", [Series("a", same)], x_label="x")
    beyond = (Point(1, 1.4, -0.2, 1.9),)
    root = ET.fromstring(lines("t", [Series("a", beyond)], x_label="x", y_range=(0.0, 1.0)))
    assert float(root.find(".//circle").attrib["cy"]) >= 0


@pytest.mark.parametrize("series", [[], [Series("a", ())], [Series("a", (Point(1, None),))]])
def test_nothing_to_show_is_said(series: list[Series]) -> None:
    assert "Nothing measured." in lines("t", series, x_label="x")
