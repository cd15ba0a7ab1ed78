"""Jobs: start, follow by server-sent events, cancel."""

from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, HTTPException, Path, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent

from envgen.service.jobs import Job
from envgen.service.models import GenerateRequest, JobModel, JobRequest, Page
from envgen.service.state import Part, Service, answers, changing
from memory import Store

JobName = Annotated[str, Path(pattern=r"^j[0-9]{6,9}$", examples=["j000001"])]
REFUSALS = (401, 403, 413)


def router(service: Service) -> APIRouter:
    """Return the calls about jobs."""
    worker, ledger = service.worker, service.opened.ledger
    guarded = changing(service.rules)
    routes = APIRouter(tags=["jobs"])

    def shown(job: Job) -> JobModel:
        return JobModel.of(job, worker.feed.progress(job.id))

    async def known(job: JobName) -> Job:
        found = ledger.books.jobs.get(job)
        if found is None:
            raise HTTPException(404, f"there is no job {job}")
        return found

    Known = Annotated[Job, Depends(known)]

    @routes.post(
        "/jobs",
        status_code=202,
        dependencies=guarded,
        responses=answers(*REFUSALS, 404, 429),
    )
    def start_job(request: JobRequest) -> JobModel:
        """Queue a job. One is done at a time; it survives the death of the service.

        `generate` goes on with a round that was begun before and publishes `rounds` shards.
        `measure` plays stored environments again with the version that serves.
        """
        if isinstance(request, GenerateRequest):
            return shown(worker.submit("generate", rounds=request.rounds))
        environments = _there(service.opened.store, request.environments)
        version = worker.serving.serving
        return shown(worker.submit("measure", environments=environments, policy_version=version))

    @routes.get("/jobs", responses=answers())
    def list_jobs(
        part: Part,
        state: Annotated[
            Literal["queued", "running", "done", "failed", "cancelled"] | None, Query()
        ] = None,
        origin: Annotated[Literal["user", "stock"] | None, Query()] = None,
    ) -> Page[JobModel]:
        """List jobs, the newest first."""
        found = [
            job
            for job in reversed(list(ledger.books.jobs.values()))
            if state in (None, job.state) and origin in (None, job.origin)
        ]
        items = [shown(job) for job in part.of(found)]
        return Page(items=items, total=len(found), offset=part.offset, limit=part.limit)

    @routes.get("/jobs/{job}", responses=answers(404))
    def show_job(job: Known) -> JobModel:
        """Show one job and how far it is."""
        return shown(job)

    @routes.post(
        "/jobs/{job}/cancel",
        status_code=202,
        dependencies=guarded,
        responses=answers(*REFUSALS, 404),
    )
    def cancel_job(job: Known) -> JobModel:
        """Let a job go no further. What was begun of a round is kept: the next `generate` goes on."""
        return shown(worker.cancel(job.id))

    @routes.get(
        "/jobs/{job}/events",
        response_class=EventSourceResponse,
        responses=answers(404, stream=True),
        dependencies=[Depends(_room(service))],
    )
    async def follow_job(
        job: Known, last_event_id: Annotated[str, Header(max_length=64)] = ""
    ) -> AsyncIterator[ServerSentEvent]:
        """Follow a job by server-sent events, from now on or from `Last-Event-ID`.

        `job` events carry the job whenever its state changes, `progress` events its counters after
        every design, certificate and measurement. The stream closes after a `job` event whose
        state is `done`, `failed` or `cancelled`: do not connect again then.
        """
        first = _first(last_event_id, worker.feed.boot)
        with service.metrics.stream():
            if first is None:
                first = worker.feed.count(job.id)
                now = ledger.books.jobs.get(job.id, job)
                identity = f"{worker.feed.boot}-{first - 1}" if first else None
                yield _event("job", shown(now).model_dump(mode="json"), identity)
                if now.is_ended:
                    return
            async for event in worker.feed.follow(job.id, first):
                yield _event(event.name, event.data, f"{worker.feed.boot}-{event.number}")

    return routes


def _there(store: Store, ids: list[str]) -> tuple[str, ...]:
    """Return the environments that are asked for, each once; all of them must be there."""
    wanted = tuple(dict.fromkeys(ids))
    there = {one.id for one in store.environments(ids=wanted)}
    if missing := [one for one in wanted if one not in there]:
        raise HTTPException(404, f"there is no environment {missing[0]}")
    return wanted


def _room(service: Service) -> Any:
    """Return a dependency that refuses a stream when there are too many."""

    async def room() -> None:
        if service.metrics.streams_open >= service.config.streams:
            raise HTTPException(503, "too many event streams are open")

    return room


def _first(last_event_id: str, boot: str) -> int | None:
    """Return the number to go on from after ``Last-Event-ID``; None for a stream of another process."""
    name, _, number = last_event_id.partition("-")
    return int(number) + 1 if name == boot and number.isdecimal() and len(number) < 12 else None


def _event(name: str, data: Any, identity: str | None = None) -> ServerSentEvent:
    return ServerSentEvent(data=data, event=name, id=identity)
