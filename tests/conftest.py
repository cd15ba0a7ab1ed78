"""Helpers of all tests."""

from collections.abc import Iterator

import pytest

from tests import zygote as zygotes


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="Write the golden files again.")


@pytest.fixture(scope="session")
def zygote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zygotes.Zygote]:
    """The server of commands, started once and when first asked for."""
    with zygotes.zygote(tmp_path_factory.mktemp("commands")) as server:
        yield server
