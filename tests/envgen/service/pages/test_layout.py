"""The map: alike environments near each other, and what lies there stays."""

from pathlib import Path

import numpy as np
import pytest

from envgen.service.pages.layout import JITTER, MOST, draw, due, place
from envgen.service.pages.maker import MapMaker
from memory import Store

from .conftest import fill


def groups(count: int, each: int, seed: int = 0) -> np.ndarray:
    """Return unit rows in ``count`` clumps of ``each``."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(count, 32))
    rows = np.repeat(centres, each, axis=0) + 0.15 * rng.normal(size=(count * each, 32))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("environments", "landmarks", "again"),
    [
        (0, 0, False),
        (1, 0, True),
        (3, 3, False),
        (4, 3, True),
        (63, 40, False),
        (64, 40, True),
        (MOST - 1, 600, False),
        (MOST, 600, True),
        (10 * MOST, MOST, False),
    ],
)
def test_a_map_is_drawn_again_when_the_store_has_doubled_until_it_is_large(
    environments: int, landmarks: int, again: bool
) -> None:
    assert due(environments, landmarks) is again


@pytest.mark.parametrize("count", [1, 2, 3, 11, 12, 40])
def test_any_number_of_environments_has_a_map_and_always_the_same(count: int) -> None:
    rows = groups(1, count)
    drawn = draw(rows)
    assert drawn.shape == (count, 2)
    assert np.isfinite(drawn).all()
    assert (drawn == draw(rows)).all()


def test_what_reads_the_same_is_no_reason_to_fail() -> None:
    rows = np.tile(groups(1, 1), (30, 1))
    assert np.isfinite(draw(rows)).all()


def test_alike_environments_lie_near_each_other() -> None:
    drawn = draw(groups(4, 20)).reshape(4, 20, 2)
    within = np.linalg.norm(drawn - drawn.mean(axis=1, keepdims=True), axis=2).mean()
    between = np.linalg.norm(drawn.mean(axis=1) - drawn.mean(axis=(0, 1)), axis=1).mean()
    assert between > 3 * within


def test_a_new_environment_lies_among_those_that_it_is_like() -> None:
    rows = groups(4, 20)
    drawn = draw(rows)
    new = (rows[5] + rows[6]) / np.linalg.norm(rows[5] + rows[6])
    found = place(new[None], ["new"], rows, drawn)[0]
    own = drawn[:20].mean(axis=0)
    assert np.linalg.norm(found - own) < min(
        np.linalg.norm(found - drawn[start : start + 20].mean(axis=0)) for start in (20, 40, 60)
    )


def test_two_of_one_text_lie_apart_but_not_far() -> None:
    rows = groups(2, 10)
    both = place(np.stack([rows[0]] * 2), ["a", "b"], rows, draw(rows))
    assert 0 < np.linalg.norm(both[0] - both[1]) <= 2 * JITTER


def test_a_map_that_is_drawn_again_lies_on_the_old_one() -> None:
    rows = groups(4, 20)
    before = draw(rows)
    again = draw(rows, before)
    kept = np.corrcoef(before.ravel(), again.ravel())[0, 1]
    assert kept > 0.8


def test_a_shard_is_placed_once_and_the_rest_stays_where_it_is(tmp_path: Path) -> None:
    known = fill(tmp_path)
    folder = tmp_path / "atlas"
    with Store.open(tmp_path / "store") as store:
        first = MapMaker(store, folder)
        assert first.look()[0] == "drawing"
        first.wait()
        state, drawn = first.look()
        assert state == "ready"
        assert set(drawn.places) == {one.id for one in known.values()}
        files = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
        assert set(files) == {"landmarks.npz", "000001.npz", "000002.npz"}

        again = MapMaker(store, folder)
        again.look()
        again.wait()
        assert again.look()[1].places == drawn.places
        assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == files

        (folder / "000002.npz").write_bytes(b"damaged")
        mended = MapMaker(store, folder)
        mended.look()
        mended.wait()
        assert mended.look()[1].places == drawn.places
