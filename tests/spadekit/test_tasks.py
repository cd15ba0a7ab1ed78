import asyncio

import pytest

from spadekit.tasks import together


async def test_results_come_in_the_order_of_the_work() -> None:
    async def later(value: int) -> int:
        await asyncio.sleep(0.01 / (value + 1))
        return value

    assert await together(later(value) for value in range(3)) == [0, 1, 2]
    assert await together([]) == []


async def test_the_first_error_cancels_the_rest_and_comes_out_as_it_is() -> None:
    ended: list[str] = []

    async def fail() -> None:
        raise ValueError("first")

    async def wait() -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    with pytest.raises(ValueError, match="first"):
        await together([wait(), fail()])
    assert ended == ["cancelled"]
