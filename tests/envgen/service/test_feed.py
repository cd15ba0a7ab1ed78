"""Events reach whoever listens, from any thread, early or late."""

import asyncio
import threading

from envgen.service.feed import KEPT_EVENTS, KEPT_JOBS, Feed


async def heard(feed: Feed, job: str, first: int = 0) -> list[int]:
    return [event.data["n"] async for event in feed.follow(job, first)]


async def test_listeners_hear_every_event_once_and_in_order_whenever_they_come() -> None:
    feed = Feed()
    feed.publish("j", "progress", {"n": 0})

    def work() -> None:
        for number in range(1, 500):
            feed.publish("j", "progress", {"n": number})
        feed.publish("j", "job", {"n": 500}, last=True)

    async with asyncio.TaskGroup() as group:
        early = [group.create_task(heard(feed, "j")) for _ in range(5)]
        await asyncio.sleep(0)
        thread = threading.Thread(target=work)
        thread.start()
        late = group.create_task(heard(feed, "j", 400))
    thread.join()
    assert all(task.result() == list(range(501)) for task in early)
    assert late.result() == list(range(400, 501))
    assert await heard(feed, "j", 501) == []


async def test_closing_ends_every_stream_and_unknown_jobs_have_none() -> None:
    feed = Feed()
    feed.publish("j", "job", {"n": 0})
    assert await heard(feed, "unknown") == []
    waiting = asyncio.create_task(heard(feed, "j"))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    feed.close()
    async with asyncio.timeout(1):
        assert await waiting == [0]


async def test_what_is_kept_is_bounded() -> None:
    feed = Feed()
    for number in range(KEPT_EVENTS + 10):
        feed.publish("long", "progress", {"n": number})
    for number in range(KEPT_JOBS + 5):
        feed.publish(f"j{number}", "job", {"n": 0}, last=True)
    assert feed.progress("long") == {"n": KEPT_EVENTS + 9}
    feed.publish("long", "job", {"n": -1}, last=True)
    assert len(await heard(feed, "long")) == KEPT_EVENTS
    assert await heard(feed, "j0") == []
    assert await heard(feed, "j50") == [0]
