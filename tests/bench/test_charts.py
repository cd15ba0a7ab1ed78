"""Charts as SVG of a fixed size: lines and forests."""

import itertools
import math
import re
import xml.etree.ElementTree as ET

import pytest

from bench.ablation.forest import Group, Row, forest
from bench.charts import COLOURS, Point, Series, lines, spread
from bench.picture import GROUND, LINES, picture
from bench.statistics import Estimate

SVG = "{http://www.w3.org/2000/svg}"


def points(count: int) -> tuple[Point, ...]:
    return tuple(Point(x, x / count, x / count - 0.1, x / count + 0.1) for x in range(count))


def test_text_in_a_chart_is_escaped() -> None:
    chart = lines("<b>&", [Series("<i>", (Point(1, 0.5),))], x_label="<u>")
    assert "<b>" not in chart and "<i>" not in chart and "<u>" not in chart


@pytest.mark.parametrize(
    ("count", "marks"), [(1, 1), (2, 2), (12, 12), (13, 13), (60, 60), (200, 0)]
)
def test_charts_of_any_length_are_well_formed(count: int, marks: int) -> None:
    root = ET.fromstring(
        lines("t", [Series("a", points(count)), Series("b", points(count))], x_label="x")
    )
    assert len(root.findall("path")) == 2 * (marks + 1)  # one beside each name
    assert len(root.findall("polyline")) == 4


def test_a_gap_breaks_the_line() -> None:
    gap = (Point(1, 0.1), Point(2, None), Point(3, 0.2))
    root = ET.fromstring(lines("t", [Series("a", gap)], x_label="x"))
    assert len(root.findall("polyline")) == 2 + 1


def test_values_that_are_all_equal_still_draw() -> None:
    same = tuple(Point(x, 3.0) for x in range(4))
    assert "polyline" in lines("t", [Series("a", same)], x_label="x")


@pytest.mark.parametrize("series", [[], [Series("a", ())], [Series("a", (Point(1, None),))]])
def test_nothing_to_show_is_said(series: list[Series]) -> None:
    assert "Nothing measured." in lines("t", series, x_label="x")
    ET.fromstring(picture("t", series, x_label="x"))


def test_eight_lines_are_told_apart_without_colour_and_their_names_do_not_touch() -> None:
    series = [Series(f"arm {place}", points(5)) for place in range(COLOURS)]
    root = ET.fromstring(lines("t", series, x_label="x"))
    places = [float(name.attrib["y"]) for name in root.findall("text[@class='key']")]
    assert len(places) == COLOURS
    assert min(b - a for a, b in itertools.pairwise(places)) >= 12
    dashes = [line.attrib["stroke-dasharray"] for line in root.findall("polyline")][:COLOURS]
    shapes = {
        ("hollow" in path.attrib["class"], re.sub(r"^M[\d.]+ [\d.]+", "", path.attrib["d"]))
        for path in root.findall("path")
    }
    assert len(shapes) == COLOURS
    assert len(set(dashes)) == 4 and all(a != b for a, b in itertools.pairwise(dashes))


def test_a_series_without_points_leaves_the_colours_of_the_others() -> None:
    root = ET.fromstring(lines("t", [Series("a", ()), Series("b", points(3))], x_label="x"))
    assert all(path.attrib["class"].endswith("s1") for path in root.findall("path"))


def test_names_are_spread_inside_the_picture() -> None:
    assert spread([10, 10, 10], 5, 0, 100) == [10, 15, 20]
    assert spread([98, 99], 5, 0, 100) == [95, 100]
    assert spread([], 5, 0, 100) == []


EYES = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    # Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB
    "no red": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "no green": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "no blue": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
Colour = tuple[float, ...]


def linear(colour: str) -> Colour:
    whole = colour if len(colour) == 7 else "#" + "".join(2 * digit for digit in colour[1:])
    shares = [int(whole[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return tuple(
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in shares
    )


def times(rows: tuple[tuple[float, ...], ...], colour: Colour) -> Colour:
    return tuple(sum(a * b for a, b in zip(row, colour, strict=True)) for row in rows)


def oklab(colour: Colour) -> Colour:
    """Ottosson 2020; distances are about those that eyes see."""
    cones = times(
        ((0.4122, 0.5363, 0.0514), (0.2119, 0.6807, 0.1074), (0.0883, 0.2817, 0.6300)),
        tuple(max(0.0, one) for one in colour),
    )
    return times(
        ((0.2105, 0.7936, -0.0041), (1.9780, -2.4286, 0.4506), (0.0259, 0.7828, -0.8087)),
        tuple(one ** (1 / 3) for one in cones),
    )


def light(colour: str) -> float:
    return sum(a * b for a, b in zip(linear(colour), (0.2126, 0.7152, 0.0722), strict=True)) + 0.05


@pytest.mark.parametrize("theme", [0, 1])
def test_colours_stand_out_and_are_told_apart_by_every_kind_of_eye(theme: int) -> None:
    found = re.findall(r"\.s\d\{color:(#\w+)\}", LINES)
    colours = found[COLOURS * theme : COLOURS * (theme + 1)]
    card = re.findall(r"--card:(#\w+)", GROUND)[theme]
    assert len(colours) == COLOURS
    for colour in colours:
        pair = sorted((light(colour), light(card)))
        assert pair[1] / pair[0] >= 3
    for rows in EYES.values():
        seen = [oklab(times(rows, linear(colour))) for colour in colours]
        assert min(math.dist(*pair) for pair in itertools.combinations(seen, 2)) > 0.055


def test_a_forest_has_a_row_for_each_seed_and_its_zero_in_sight() -> None:
    known = Estimate(0.2, 0.1, 0.3, 9, 9)
    rows = (
        Row("seed 0", (known, known)),
        Row("seed 1", (Estimate(None, None, None, 0, 0), Estimate(0.2, None, None, 1, 4))),
        Row("all seeds", (known, known), whole=True),
    )
    document = forest("<t>", [Group("a & b", 3 + COLOURS, rows)], ["sampled", "greedy"], ["note"])
    root = ET.fromstring(document)
    assert len(root.findall(f"{SVG}line[@class='zero']")) == 2
    assert len(root.findall(f"{SVG}line[@class='bar s3']")) == 2
    assert len(root.findall(f"{SVG}line[@class='bar whole s3']")) == 2
    assert len(root.findall(f"{SVG}path")) == 5
    texts = [node.text for node in root.iter(f"{SVG}text")]
    assert {"<t>", "a & b", "note", "seed 1", "+0.200"} <= set(texts)
