"""Charts of a page."""

import re
import xml.etree.ElementTree as ET

import pytest

from bench.plots import MOST_PLACES, SIDE, Line, Plots, Point


def line(count: int, name: str = "a", colour: int = 0) -> Line:
    points = [Point(x, x / count, x / count - 0.1, x / count + 0.1) for x in range(count)]
    return Line(name, tuple(points), colour)


def tree(markup: str) -> ET.Element:
    """Read a chart as XML: its only empty tags are br and input."""
    return ET.fromstring(re.sub(r"<(br|input[^>]*)>", r"<\1/>", str(markup)))


def test_text_in_a_chart_is_escaped() -> None:
    evil = Line("<i>", (Point(1, 0.5),), 0)
    drawn = [
        Plots().lines("<b>&", [evil], x_label="<u>", note="<s>"),
        Plots().stacked("<b>&", [1], {"<i>": [1.0]}, x_label="<u>", unit="<s>"),
        Plots().heat("<b>&", [1], {"<i>": [1.0]}, x_label="<u>", note="<s>"),
    ]
    for one in drawn:
        assert "<b>&" not in one and not re.search(r"<u>|<s>|<i>", one)
        tree(one)


@pytest.mark.parametrize("count", [1, 2, 12, 13, 60, 61, 1000])
def test_charts_of_any_length_are_well_formed_and_small(count: int) -> None:
    drawn = Plots().lines("t", [line(count), line(count, "b", 1)], x_label="x")
    root = tree(drawn)
    assert len(root.findall(".//label")) <= min(count, MOST_PLACES)
    assert len(drawn) < 60_000
    numbers = [int(n) for path in root.iter("path") for n in re.findall(r"\d+", path.attrib["d"])]
    assert max(numbers) <= SIDE


def test_a_gap_breaks_the_line_and_a_point_alone_is_a_dot() -> None:
    points = [Point(1, 0.1), Point(2, None), Point(3, 0.2), Point(4, 0.3)]
    root = tree(Plots().lines("t", [Line("a", tuple(points), 0)], x_label="x"))
    paths = {one.attrib["class"]: one.attrib["d"] for one in root.iter("path")}
    assert paths["line s0"].count("M") == 2 and paths["line s0"].count("L") == 1
    assert paths["dot s0"].count("h0") == 3


def test_an_interval_is_a_bar_for_few_points_and_a_band_for_many() -> None:
    few, many = (Plots().lines("t", [line(count)], x_label="x") for count in (12, 13))
    assert 'class="bar s0"' in few and "band" not in few
    assert 'class="band s0"' in many and 'class="bar' not in many


def test_every_place_is_reached_by_one_radio_button_that_tells_its_figures() -> None:
    plots = Plots()
    root = tree(plots.lines("t", [line(4), line(4, "b", 1)], x_label="round"))
    names = {one.attrib["name"] for one in root.iter("input")}
    assert len(names) == 1
    [*_, last] = root.findall(".//label")
    assert "".join(last.itertext()) == "round 3a 0.75 0.65 to 0.85b 0.75 0.65 to 0.85"
    other = tree(plots.lines("t", [line(4)], x_label="round"))
    assert names.isdisjoint(one.attrib["name"] for one in other.iter("input"))


def test_values_that_are_all_equal_or_out_of_range_still_draw() -> None:
    for value in (0.0, 3.0, -3.0):
        same = Line("a", tuple(Point(x, value) for x in range(4)), 0)
        assert 'class="line s0"' in Plots().lines("t", [same], x_label="x")
    beyond = Line("a", (Point(1, 1.4, -0.2, 1.9),), 0)
    root = tree(Plots().lines("t", [beyond], x_label="x", y_range=(0.0, 1.0)))
    [dot] = [one for one in root.iter("path") if one.attrib["class"] == "dot s0"]
    assert dot.attrib["d"] == f"M{SIDE // 2} 0h0"


def test_error_bars_at_one_place_stand_beside_each_other() -> None:
    root = tree(Plots().lines("t", [line(1), line(1, "b", 1)], x_label="x"))
    bars = [one.attrib["d"] for one in root.iter("path") if one.attrib["class"].startswith("bar")]
    assert len({bar.split()[0] for bar in bars}) == 2


@pytest.mark.parametrize(
    ("count", "labels"), [(7, "0123456"), (20, "0 5 10 15"), (400, "100 200 300")]
)
def test_the_places_with_a_label_are_round_and_few(count: int, labels: str) -> None:
    root = tree(Plots().lines("t", [line(count)], x_label="x"))
    shown = [one.text for one in root.iter("span") if one.get("class") == "x"]
    assert shown == (labels.split() if " " in labels else list(labels))


def test_nothing_to_show_is_no_chart() -> None:
    gaps = Line("a", (Point(1, None),), 0)
    assert Plots().lines("t", [], x_label="x") == ""
    assert Plots().lines("t", [gaps], x_label="x") == ""
    assert Plots().stacked("t", [], {"a": []}, x_label="x", unit="s") == ""
    assert Plots().stacked("t", [1], {"a": [0.0]}, x_label="x", unit="s") == ""
    assert Plots().heat("t", [1], {"a": [0.0]}, x_label="x") == ""


def test_parts_of_a_bar_stand_on_each_other() -> None:
    root = tree(Plots().stacked("t", [1], {"a": [1.0], "b": [3.0]}, x_label="x", unit="s"))
    lower, upper = (one.attrib["d"] for one in root.iter("path") if "fill" in one.attrib["class"])
    assert re.findall(r"V(\d+)", lower) == re.findall(r"M\d+ (\d+)", upper)


def test_a_cell_is_the_darker_the_larger_its_share() -> None:
    rows = {"low": [0.1, 0.9], "high": [0.9, 0.1]}
    root = tree(Plots().heat("t", [1, 2], rows, x_label="x"))
    cells = {one.attrib["class"]: one.attrib["d"] for one in root.iter("path")}
    assert set(cells) == {"fill h2", "fill h6"}
    assert cells["fill h2"] == "M0 1000H500V500H0zM500 500H1000V0H500z"


def test_long_runs_are_drawn_by_means_of_neighbours() -> None:
    count = 4 * MOST_PLACES
    rows = {"a": [0.0, 1.0] * (count // 2)}
    drawn = Plots().stacked("t", list(range(count)), rows, x_label="x", unit="s")
    assert len(tree(drawn).findall(".//label")) == MOST_PLACES
    assert (
        f"x {count - 1}" in drawn
        and "<b>0.5 s</b>" in drawn
        and "Each bar is the mean of 4." in drawn
    )
