"""Rounds: the funnel of each, how varied and learnable they were, what they cost, and the job that runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse

from envgen.service.jobs import Job
from envgen.service.pages import reports, shell
from envgen.service.pages.context import Context
from envgen.service.pages.forms import form_of, number
from envgen.service.pages.models import RoundModel
from envgen.service.pages.words import CHECKS, STAGES

SHOWN = 40
WIDTH = 400
MOST_ROUNDS = 100


@dataclass(frozen=True)
class Part:
    """One stretch of a funnel's bar. ``kind``: new, like (a known one), fell, ours (our fault), todo."""

    kind: str
    name: str
    count: int
    start: float
    width: float


@dataclass(frozen=True)
class Live:
    """The job that runs, its funnel so far, and what waits behind it."""

    job: Job | None
    progress: Mapping[str, Any] | None
    bar: list[Part]
    waiting: int
    ended: Job | None


def router(context: Context) -> APIRouter:
    """Return the page, its live part, and the form that begins a round."""
    service = context.service
    store, worker, ledger = service.opened.store, service.worker, service.opened.ledger
    routes = APIRouter(include_in_schema=False)

    def live_now() -> Live:
        jobs = list(ledger.books.jobs.values())
        running = ledger.books.jobs.get(worker.running)
        waiting = [job for job in jobs if job.state == "queued"]
        ended = [job for job in jobs if job.is_ended]
        shown = running or (waiting[0] if waiting else None)
        progress = worker.feed.progress(shown.id) if shown else None
        return Live(
            shown,
            progress,
            live_funnel(progress) if progress else [],
            len(waiting) - (shown is not None and shown.state == "queued"),
            max(ended, key=lambda job: job.ended) if ended else None,
        )

    def part(shards: int | None = None, headers: Mapping[str, str] | None = None) -> HTMLResponse:
        here = len(store.numbers()) if shards is None else shards
        text = shell.rendered("rounds_live.jinja", live=live_now(), shards=here)
        return shell.html(text, headers=headers)

    @routes.get("/rounds")
    def page() -> HTMLResponse:
        heads = store.shards()
        found = reports.rounds(heads, context.catalogue.entries())
        newest = found[::-1][:SHOWN]
        return shell.page(
            "rounds.jinja",
            here="/rounds",
            rounds=[(one, funnel(one)) for one in newest],
            total=len(found),
            live=live_now(),
            serving=worker.serving,
            shards=len(heads),
        )

    @routes.get("/rounds/live")
    def live(request: Request) -> HTMLResponse:
        known = request.query_params.get("shards", "")
        here = len(store.numbers())
        # Once there is another shard the page has more to tell than this part of it.
        more = {"HX-Refresh": "true"} if known.isdecimal() and int(known) != here else {}
        return part(here, more)

    @routes.post("/rounds/begin")
    async def begin(request: Request) -> HTMLResponse:
        asked = number(await form_of(request), "rounds", 1, MOST_ROUNDS)
        await run_in_threadpool(worker.submit, "generate", rounds=asked)
        return await run_in_threadpool(part)

    @routes.post("/rounds/cancel/{job}")
    def cancel(job: str) -> HTMLResponse:
        if job not in ledger.books.jobs:
            raise HTTPException(404, "there is no such job")
        worker.cancel(job)
        return part()

    return routes


def funnel(one: RoundModel) -> list[Part]:
    """Return the bar of a round: what was new, what was like a known one, and where the rest fell."""
    fell = {stage: count for stage, count in one.fell.items() if stage != "diversity"}
    counted = [("new", "new", one.admitted), ("like", "like a known one", one.duplicates)]
    counted += [("fell", stage_name(stage), count) for stage, count in fell.items()]
    counted.append(("ours", "lost by a fault of ours", one.faulted))
    return parts(counted, one.designs)


def live_funnel(progress: Mapping[str, Any]) -> list[Part]:
    """Return the bar of a round at work; of one that measures again, how far it is."""
    if not progress["designs"]:
        done, of = progress["measured"], progress["to_measure"]
        return parts([("new", "measured", done), ("todo", "to measure", of - done)], of)
    fell = [("fell", stage_name(stage), count) for stage, count in progress["fell"].items()]
    lost = sum(count for _, _, count in fell)
    measured = progress["measured"]
    going = max(0, progress["designed"] - lost - measured)
    rest = max(0, progress["designs"] - progress["designed"])
    counted = [("new", "measured", measured), ("like", "being checked or played", going)]
    return parts([*counted, *fell, ("todo", "to write", rest)], progress["designs"])


def parts(counted: list[tuple[str, str, int]], of: int) -> list[Part]:
    """Lay counts side by side; together they are as wide as the bar."""
    total = max(of, sum(count for _, _, count in counted), 1)
    found, start = [], 0.0
    for kind, name, count in counted:
        if count > 0:
            width = WIDTH * count / total
            found.append(Part(kind, name, count, round(start, 2), round(width, 2)))
            start += width
    return found


def stage_name(stage: str) -> str:
    """Return how a stage reads where a design fell at it."""
    if stage in CHECKS:
        return f"fell at “{CHECKS[stage].lower()}”"
    return STAGES.get(stage, f"fell at {stage.replace('_', ' ')}")
