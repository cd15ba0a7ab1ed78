"""Which troubles of the Hub are waited out. What hf_xet raises is only known from its own code: the
tests of whole uploads run without it."""

import json
from collections.abc import Callable

import httpx2
import pytest

from envgen.publish.upload import _Patience
from spadekit.errors import BadInput, OurFault


def wrapped(cause: Exception) -> Exception:
    error = RuntimeError("Error while uploading 'a.parquet' to the Hub.")
    error.__cause__ = cause
    return error


def failing(error: Exception, times: int) -> tuple[Callable[[], str], list[int]]:
    tries: list[int] = []

    def work() -> str:
        tries.append(1)
        if len(tries) <= times:
            raise error
        return "sent"

    return work, tries


TRANSFER = RuntimeError("Task cancelled: internal error")


@pytest.mark.parametrize(
    "error",
    [
        TRANSFER,
        ConnectionError("CAS: broken"),
        TimeoutError("CAS: late"),
        json.JSONDecodeError("Expecting value", "<html>", 0),
        wrapped(httpx2.ReadError("cut")),
    ],
)
def test_what_may_pass_is_tried_again(error: Exception) -> None:
    notes: list[str] = []
    work, tries = failing(error, 1)
    assert _Patience(30.0, notes.append)(work) == "sent"
    assert (len(tries), len(notes)) == (2, 1)


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (TRANSFER, OurFault, "Task cancelled.*HF_HUB_DISABLE_XET=1"),
        (ConnectionError("CAS: broken"), BadInput, "keeps failing .CAS: broken"),
        (json.JSONDecodeError("Expecting value", "<html>", 0), BadInput, "no JSON"),
    ],
)
def test_what_does_not_pass_is_one_line_in_the_end(
    error: Exception, kind: type[Exception], says: str
) -> None:
    work, _ = failing(error, 9)
    with pytest.raises(kind, match=says):
        _Patience(0.1, print)(work)


@pytest.mark.parametrize(
    "error",
    [ValueError("x"), RecursionError("x"), PermissionError("no"), wrapped(FileNotFoundError("a"))],
)
def test_what_cannot_pass_is_raised_at_once(error: Exception) -> None:
    work, tries = failing(error, 9)
    with pytest.raises(type(error.__cause__ or error)):
        _Patience(30.0, print)(work)
    assert len(tries) == 1
