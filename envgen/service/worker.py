"""The worker: one thread with a loop of its own that does jobs one at a time and keeps the stock.

The web's loop never waits for it: what the worker knows is a frozen ``Status``, what it is asked goes
through the ledger, and a call wakes it.
"""

import asyncio
import dataclasses
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from envgen.producer import Round
from envgen.progress import Progress
from envgen.service.config import ServiceConfig
from envgen.service.feed import Feed
from envgen.service.jobs import Job, Kind, Ledger, next_job
from envgen.service.keeper import Keeper
from envgen.service.metrics import Metrics
from envgen.service.remeasure import Remeasure
from envgen.service.stock import target_version
from envgen.workspace import Workspace, open_workspace
from memory import Store
from sandbox import SandboxFault
from solver import curves, sync
from solver.config import SyncConfig
from solver.versions import Versions
from spadekit.errors import BadInput, OurFault
from spadekit.home import trainer_at_work
from spadekit.report import Report
from spadekit.settings import Settings

_PLAYS_EVERY_S = 0.2


class Refused(Exception):
    """What is asked cannot be done now: ``full`` because as many jobs wait as may, else at an end."""

    def __init__(self, message: str, full: bool = False) -> None:
        super().__init__(message)
        self.full = full


@dataclass(frozen=True)
class Serving:
    """Which policy version serves. ``problem``: why the one that should cannot, "" when it does."""

    serving: int
    target: int
    newest: int
    problem: str = ""


@dataclass(frozen=True)
class Open:
    """What the worker opened, for the web to read from."""

    store: Store
    versions: Versions
    ledger: Ledger


class Worker:
    """Does the work of one home. ``start`` it, then ``submit`` and ``cancel`` from any thread."""

    def __init__(
        self,
        home: Path,
        run: str,
        settings: Settings,
        report: Report,
        metrics: Metrics,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self._where = (home, run, settings, report)
        self._report = report
        self._config = settings.section(ServiceConfig)
        self._sync = settings.section(SyncConfig)
        self._metrics = metrics
        self._on_end = on_end
        self.feed = Feed()
        self.keeper = Keeper(self._config)
        self.error: BaseException | None = None
        """What ended the worker, if it was not ``stop``."""
        self._serving: Serving | None = None
        self._opened: Future[Open] = Future()
        self._thread = threading.Thread(target=self._live, name="worker", daemon=True)
        self._submitting = threading.Lock()
        self._running: tuple[str, asyncio.Task[str]] | None = None
        self._loop: asyncio.AbstractEventLoop
        self._main: asyncio.Task[None]
        self._woken: asyncio.Event
        self._work_on: Workspace
        self._ledger: Ledger
        self._switch_again = 0.0

    # Called by the web's threads

    @property
    def settings(self) -> Settings:
        """The settings it works with."""
        return self._where[2]

    def start(self) -> Open:
        """Open the home and begin. Raises ``BadInput`` and ``SandboxFault`` as a command would."""
        self._thread.start()
        return self._opened.result()

    def stop(self, limit_s: float) -> bool:
        """Stop at a safe point; journals stay. Return whether it stopped within the limit."""
        if self._thread.is_alive():
            self._call(self._main.cancel)
            self._thread.join(limit_s)
        return not self._thread.is_alive()

    @property
    def alive(self) -> bool:
        """Whether it works."""
        return self._thread.is_alive() and self._opened.done()

    @property
    def running(self) -> str:
        """The id of the job that is being done, "" when none is."""
        running = self._running
        return running[0] if running else ""

    @property
    def serving(self) -> Serving:
        """Which policy version serves now."""
        assert self._serving is not None
        return self._serving

    def submit(self, kind: Kind, **values: Any) -> Job:
        """Queue a user's job and return it; it is on the disk then. Raises ``Refused``."""
        ledger = self._books()
        with self._submitting:
            waiting = sum(job.state == "queued" for job in ledger.books.jobs.values())
            if waiting >= self._config.queue:
                raise Refused(f"{waiting} jobs wait, which is the most; try again later", full=True)
            job = ledger.add(kind, "user", **values)
        self._tell(job)
        self._call(self._woken.set)
        return job

    def cancel(self, job: str) -> Job:
        """Let a job go no further. Raises ``KeyError`` and ``Refused``."""
        found = self._books().cancel(job)
        self._tell(found)
        if not found.is_ended:
            self._call(self._cancel_running, job)
        return found

    def pin(self, version: int | None) -> None:
        """Choose the version that serves from the next round on; None: the newest. Raises ``Refused``."""
        self._books().pin(version)
        self._call(self._woken.set)

    def _books(self) -> Ledger:
        if not self.alive:
            raise Refused("the service is stopping")
        return self._opened.result().ledger

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *arguments)

    # The worker's thread

    def _live(self) -> None:
        try:
            asyncio.run(self._work())
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            self.error = error
            if not self._opened.done():
                self._opened.set_exception(error)
        finally:
            self.feed.close()
            self._on_end()

    async def _work(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._main = cast("asyncio.Task[None]", asyncio.current_task())
        self._woken = asyncio.Event()
        async with open_workspace(*self._where) as work:
            ledger = Ledger(work.run_dir / "jobs.jsonl", self._config.keep)
            try:
                self._work_on, self._ledger = work, ledger
                for job in ledger.books.jobs.values():
                    if not job.is_ended:
                        self._tell(job)
                version = work.policy.version
                self._serving = Serving(version, version, version)
                await self._switch()
                self._opened.set_result(Open(work.store, work.versions, ledger))
                while True:
                    await self._turn()
            finally:
                ledger.close()

    async def _turn(self) -> None:
        await self._switch()
        job = next_job(self._ledger.books.jobs.values()) or self._for_stock()
        if job is not None:
            await self._do(job)
            return
        try:
            async with asyncio.timeout(self._config.watch_s):
                await self._woken.wait()
        except TimeoutError:
            pass
        self._woken.clear()

    def _for_stock(self) -> Job | None:
        store = self._work_on.store

        def ahead() -> bool:
            return self._ahead(max(store.numbers(), default=0) + 1)

        wanted = self.keeper.next(store, self.serving.serving, ahead)
        if wanted is None:
            return None
        job = self._ledger.add(wanted.kind, "stock", **wanted.values)
        self._tell(job)
        return job

    async def _switch(self) -> None:
        """Serve the target version; where it cannot be served the old one stays, with the reason."""
        work, before = self._work_on, self.serving
        newest = work.versions.latest()
        target = target_version(newest, self._sync.every, self._ledger.books.pinned)
        now = time.monotonic()
        waiting = target == before.target and now < self._switch_again
        problem = before.problem if waiting else ""
        if target != work.policy.version and not waiting:
            try:
                work.versions.read(target)
                await work.policy.load(work.versions.path(target))
            except (BadInput, OurFault) as error:
                problem = str(error)
                self._switch_again = now + self._config.retry_s
                self._report.error(f"policy version {target} cannot serve: {problem}")
        self._serving = Serving(work.policy.version, target, newest, problem)

    async def _do(self, job: Job) -> None:
        begins = "begins" if job.state == "queued" else "goes on"
        job = self._ledger.start(job.id)
        if job.is_ended:  # cancelled in this very moment
            return
        self._report.note(f"job {job.id} {begins}: {_in_words(job)}")
        self._tell(job)
        task = asyncio.create_task(self._carry_out(job))
        self._running = (job.id, task)
        self._metrics.running.set(1)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            # The service stops: the job stays `running` in the journal and goes on at the next start.
            task.cancel()
            await asyncio.wait({task})
            raise
        finally:
            self._running = None
            self._metrics.running.set(0)
        self._end(job.id, task)

    def _end(self, job: str, task: "asyncio.Task[str]") -> None:
        if task.cancelled():
            ended = self._ledger.end(job, "cancelled", "cancelled; what was begun is kept")
            self._report.note(f"job {job} {ended.message}")
        elif (error := _cause(task.exception())) is None:
            ended = self._ledger.end(job, "done", task.result())
            self._report.note(f"job {job} done: {ended.message}")
        else:
            if not isinstance(error, BadInput | OurFault | SandboxFault | OSError):
                traceback.print_exception(error)
            ended = self._ledger.end(job, "failed", " ".join(str(error).split()) or repr(error))
            self._report.error(f"job {job} failed: {ended.message}")
        self._metrics.ended(ended)
        if ended.origin == "stock":
            self.keeper.ended(ended)
        self._tell(ended)

    async def _carry_out(self, job: Job) -> str:
        """Do a job from wherever it is; return what is said of it when it is done."""

        told = 0.0

        def tell(now: Progress) -> None:
            nonlocal told
            # There are many plays, and every event has all counters.
            if now.step != "played" or now.seconds - told > _PLAYS_EVERY_S:
                told = now.seconds
                self.feed.publish(job.id, "progress", dataclasses.asdict(now))

        if job.kind == "measure":
            await self._serve(job.policy_version)
            standings = await Remeasure(self._work_on, job.id, job.environments, tell).run()
            self._metrics.measured(standings)
            frontier = sum(one.status == "frontier" for one in standings)
            return f"{len(standings)} environments measured, {frontier} at the frontier"
        while True:
            published = {manifest.shard for manifest in self._work_on.store.shards()}
            done = [shard for shard in job.shards if shard in published]
            if len(done) >= job.rounds:
                return f"published {', '.join(f'shard {shard}' for shard in done)}"
            number = max(published, default=0) + 1
            await self._trainer_near(job.id, number)
            await self._switch()
            job = self._ledger.begin_round(job.id, number)
            self._tell(job)
            self._metrics.round(
                await Round(self._work_on, number, self._work_on.policy.version, tell).run()
            )
            here = self._work_on
            curves.update(here.home, here.store.shards(), here.versions, self._report.note)

    def _ahead(self, number: int) -> bool:
        """Whether a trainer is at work here that has to come nearer before a shard is designed."""
        missing = sync.missing(number, self._work_on.versions.latest(), self._sync)
        return missing > 0 and trainer_at_work(self._work_on.home)

    async def _trainer_near(self, job: str, number: int) -> None:
        def waiting() -> None:
            self._report.note(
                f"job {job}: round {number} waits for policy version {number - self._sync.max_ahead} "
                "of the trainer that is at work (sync.max_ahead)"
            )

        def near() -> bool | None:
            return None if self._ahead(number) else True

        await sync.until(near, self._config.watch_s, waiting)

    async def _serve(self, version: int | None) -> None:
        work = self._work_on
        if version is not None and version != work.policy.version:
            work.versions.read(version)
            await work.policy.load(work.versions.path(version))

    def _cancel_running(self, job: str) -> None:
        if self._running and self._running[0] == job:
            self._running[1].cancel()

    def _tell(self, job: Job) -> None:
        self.feed.publish(job.id, "job", dataclasses.asdict(job), last=job.is_ended)


def _in_words(job: Job) -> str:
    count, what = (
        (job.rounds, "round") if job.kind == "generate" else (len(job.environments), "environment")
    )
    whose = ", for the stock" if job.origin == "stock" else ""
    return f"{job.kind} {count} {what}{'s' * (count != 1)}{whose}"


def _cause(error: BaseException | None) -> BaseException | None:
    """Return the error itself, or the first one of a task group that failed."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
