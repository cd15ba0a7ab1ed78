"""A run of the cluster backend: refusals first, then launch, watch, publish, plan the next step.

This process and OpenRLHF's share one folder (``solver.openrlhf.run``). For every policy version: the step
is planned as on one machine and handed over as rows; the engines play them; OpenRLHF updates and writes a
model folder; that becomes the version, with the plays in the store; then the next step is planned, for
which the engines wait. So one launch makes any number of versions, and what it knows of the store is
never old.

What a killed launch did beyond its last version is done again by the next. That one goes on with the
optimiser's state of the newest version, where there is one and the settings are the same.
"""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from memory import Store
from sandbox import SandboxConfig
from solver.config import PolicyConfig, SolverConfig, TrainConfig
from solver.metrics import left_out
from solver.openrlhf import rows as cut
from solver.openrlhf.checkpoint import Checkpoints, check_config, fill, missing
from solver.openrlhf.command import Places, arguments
from solver.openrlhf.config import ClusterConfig
from solver.openrlhf.launch import launched, require
from solver.openrlhf.layout import Layout, layout
from solver.openrlhf.measuring import of_plays, step_metrics, together
from solver.openrlhf.refusals import designs_of, open_chat
from solver.openrlhf.run import Run, Spec
from solver.planning import Plan, observed, plan, write_curriculum
from solver.samples import Batch
from solver.versions import CURRICULUM, INFO, OPTIMISER, PolicyInfo, Versions
from spadekit.errors import BadInput, OurFault
from spadekit.files import write_atomic
from spadekit.settings import Settings

Work = tuple[int, int]
"""A shard and the policy version to train on it."""
Metrics = Mapping[str, Any]
Step = Callable[[int, int], Awaitable[Metrics]]
Note = Callable[[str], None]
MOST_LOST = 0.5
"""Share of a version's groups that faults of ours may take away."""
_LOOK_S = 0.5
_BEAT_S = 5.0
_LOG_S = 10.0
"""Longest wait for a line of the log that tells of work known to be done."""


@asynccontextmanager
async def steps(
    store: Store,
    versions: Versions,
    settings: Settings,
    home: Path,
    note: Note,
    ahead: Sequence[Work] = (),
) -> AsyncIterator[Step]:
    """Give a function that has OpenRLHF make one policy version after the other, in one launch.

    It takes a shard and the version to make of it, the one after the newest, and returns the version's
    metrics. OpenRLHF starts with the first version and ends with the block. ``ahead``: what will be asked
    for, as far as it is known.

    Raises ``BadInput`` before anything is started for whatever OpenRLHF cannot do with the settings, the
    model, the shards or this machine; the function raises ``OurFault`` when OpenRLHF ends without having
    made a version.
    """
    newest = versions.latest()
    model = versions.path(newest).resolve()
    laid = layout(settings, bool(open_chat(model, settings).separate))
    await asyncio.to_thread(
        require, settings.section(ClusterConfig), settings.section(SandboxConfig)
    )
    for shard, version in ahead:
        _deal_designs(designs_of(store, settings, model, shard, version), laid, settings)
    async with AsyncExitStack() as stack:
        task: _Task | None = None

        async def step(shard: int, version: int) -> Metrics:
            nonlocal task
            designs = designs_of(store, settings, model, shard, version)
            _deal_designs(designs, laid, settings)
            if task is None:
                task = await asyncio.to_thread(_begin, store, versions, settings, home, laid, note)
                await stack.enter_async_context(task.running())
            return await task.make(shard, version)

        yield step


def _begin(
    store: Store, versions: Versions, settings: Settings, home: Path, laid: Layout, note: Note
) -> "_Task":
    """Prepare a launch that goes on from the newest version."""
    newest, root = versions.latest(), home.resolve() / "cluster"
    versions.validate(newest)
    checkpoints = Checkpoints(root / f"state-{lineage(settings)}")
    done = go_on_from(checkpoints, newest, settings, note)
    run = Run(_next_folder(root))
    run.begin(_spec(versions.path(newest).resolve(), settings, laid), laid)
    return _Task(store, versions, settings, laid, run, checkpoints, done, note)


class _Task:
    """One launch: its folder, its process, and the versions that come of it."""

    def __init__(
        self,
        store: Store,
        versions: Versions,
        settings: Settings,
        laid: Layout,
        run: Run,
        checkpoints: Checkpoints,
        done: int,
        note: Note,
    ) -> None:
        self.store = store
        self.versions = versions
        self.settings = settings
        self.train = settings.section(TrainConfig)
        self.cluster = settings.section(ClusterConfig)
        self.laid = laid
        self.run = run
        self.checkpoints = checkpoints
        self.done = done
        """Global steps behind the newest version."""
        self.note = note
        self.made = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run OpenRLHF while the block runs."""
        begun = self.checkpoints.first()
        assert begun is not None
        places = Places(
            model=self.versions.path(begun).resolve(),
            slots=self.run.slots,
            agent=self.run.agent,
            checkpoints=self.checkpoints.root,
            final=self.run.folder / "final",
        )
        told = arguments(self.settings, self.laid, places, resumes=self.done > 0)
        write_atomic(self.run.folder / "command.txt", " ".join(told).encode() + b"\n")
        self.note(f"OpenRLHF starts; what it says goes to {self.run.folder / 'log.txt'}")
        with launched(self.cluster, told, self.run.folder) as self.launch:
            alive = asyncio.create_task(self._live())
            try:
                yield
            finally:
                alive.cancel()
        self.checkpoints.prune(self.done)
        self.run.tidy()

    async def _live(self) -> None:
        """Show the engines, which wait for plans, that somebody will make them."""
        while True:
            self.run.beat()
            await asyncio.sleep(_BEAT_S)

    async def make(self, shard: int, version: int) -> Metrics:
        """Have the launch's next version made, and publish it."""
        began = time.perf_counter()
        planned = await asyncio.to_thread(self._plan, shard, version)
        step = self.done + self.cluster.rollouts
        written = self.checkpoints.model(step)
        await self._await(written, version, len(planned.jobs) // self.laid.plays)
        metrics = await asyncio.to_thread(self._publish, planned, written, step, began)
        if said := left_out(metrics):
            self.note(f"policy version {version}: {said}")
        self.done, self.made = step, self.made + 1
        return metrics

    def _plan(self, shard: int, version: int) -> Plan:
        planned = plan(self.store, self.versions, self.train, shard, version)
        parent = self.versions.path(planned.parent.version)
        designs = designs_of(self.store, self.settings, parent, shard, version)
        planned = replace(planned, designs=designs)
        self.run.plan(self.made, self._rollouts(planned))
        return planned

    async def _await(self, written: Path, version: int, groups: int) -> None:
        """Wait until OpenRLHF has written a version's model; ``OurFault`` when it will not."""
        while missing(written):
            self._require_plays(version, groups)
            if self.launch.ended and missing(written):
                raise OurFault(f"OpenRLHF ended without version {version}: {self.launch.why()}")
            await asyncio.sleep(_LOOK_S)
        if faults := self._require_plays(version, groups):
            self.note(f"{len(faults)} of {groups} groups could not be played: {faults[0]}")

    def _require_plays(self, version: int, groups: int) -> list[str]:
        """Return why groups could not be played; ``OurFault`` when most of them could not."""
        faults = self.run.faults(self.made)
        if len(faults) > MOST_LOST * groups:
            raise OurFault(
                f"policy version {version}: {len(faults)} of {groups} groups could not be played: "
                f"{faults[0]}"
            )
        return faults

    def _publish(self, planned: Plan, written: Path, step: int, began: float) -> Metrics:
        parent = self.versions.path(planned.parent.version)
        check_config(written, parent)
        played = self.run.played(self.made)
        records = [record for one in played for record in one.plays]
        self.store.append_plays(records)
        rollouts = range(step - self.cluster.rollouts + 1, step + 1)
        logged = together([self.launch.figures(one, _LOG_S) for one in rollouts])
        seconds = time.perf_counter() - began
        metrics = step_metrics(planned, played, of_plays(planned, records), logged, seconds)
        info = PolicyInfo(
            planned.version,
            planned.parent.version,
            planned.parent.step + self.cluster.rollouts,
            planned.shard,
            self.settings.digest,
            {},
            metrics,
        )

        def write(folder: Path) -> None:
            fill(folder, written, parent, leave={INFO, OPTIMISER, CURRICULUM})
            write_curriculum(folder, planned.choice, observed(planned, records))

        # First the note: a version without one would be gone on from with a fresh Adam, or not at all.
        self.checkpoints.note(planned.version, step)
        self.versions.publish(info, write)
        # Not yet its own: OpenRLHF may still be writing the tokenizer into it.
        self.checkpoints.prune(step - 1)
        return metrics

    def _rollouts(self, step: Plan) -> list[list[cut.Row]]:
        """Cut a planned step into the rows of its rollouts, and balance the roles in each."""
        otherwise = float(self.settings.section(SolverConfig).max_tokens)
        each = cut.tokens_of_a_play(self.store.shard(step.shard).plays, otherwise)
        like = cut.Row(
            version=step.parent.version,
            origin=(step.parent.weights, self.settings.digest, self.run.folder.name),
        )
        plays = cut.deal_plays(step.jobs, self.laid.plays, self.cluster.rollouts, like)
        designs = _deal_designs(step.designs, self.laid, self.settings)
        shown = [one for rows in designs for row in rows for one in row.designs]
        tokens = sum(one.tokens for one in step.designs.samples)
        behind = tokens / max(1, sum(sum(one.mask) for one in shown))
        pulls = cut.pulls(len(step.jobs), step.designs, self.train)
        return [
            cut.balance(cut.fill(own, others, self.laid), self.laid, each, behind, pulls)
            for own, others in zip(plays, designs, strict=True)
        ]


def _deal_designs(designs: Batch, laid: Layout, settings: Settings) -> list[list[cut.Row]]:
    parts = cut.compared(designs.samples, laid.row)
    parts = cut.worth_showing(parts, settings.section(TrainConfig).kl)
    return cut.deal_designs(parts, laid, settings.section(ClusterConfig).rollouts)


def go_on_from(checkpoints: Checkpoints, parent: int, settings: Settings, note: Note) -> int:
    """Return the global step whose state training goes on from; 0 begins with ``parent``'s weights."""
    kept = settings.section(ClusterConfig).keep_optimiser
    done = checkpoints.step_of(parent) if kept else None
    if done is not None:
        checkpoints.rewind(done)
        note(f"going on with the optimiser's state of version {parent} (global step {done})")
        return done
    if parent and settings.section(TrainConfig).kl:
        raise BadInput(
            f"train.kl pulls to version 0, but OpenRLHF starts from the weights of version {parent} and "
            "would pull to those: its state of that version is not there (other settings, or "
            "cluster.keep_optimiser = false); set train.kl = 0, or begin another --home"
        )
    for other in checkpoints.root.parent.glob("state-*"):
        shutil.rmtree(other)  # of settings that are no longer used, and large
    checkpoints.begin(parent)
    if parent:
        note(f"the optimiser begins afresh from the weights of version {parent}")
    return 0


def lineage(settings: Settings) -> str:
    """Name what a state of the optimiser fits: the settings that shape it, and how it is spread."""
    cluster = settings.section(ClusterConfig)
    shaping = settings.digest_of(TrainConfig, SolverConfig, ClusterConfig)
    return f"{shaping}-{cluster.nodes * cluster.gpus}-{cluster.zero_stage}"


def _next_folder(root: Path) -> Path:
    numbers = [int(path.name[4:]) for path in root.glob("run-*") if path.name[4:].isdigit()]
    return root / f"run-{max(numbers, default=0) + 1:04d}"


def _spec(model: Path, settings: Settings, laid: Layout) -> Spec:
    cluster = settings.section(ClusterConfig)
    return Spec(
        row=laid.row,
        rollouts=cluster.rollouts,
        reply_s=cluster.reply_s,
        silence_s=cluster.silence_s,
        model=str(model),
        thinking=settings.section(PolicyConfig).thinking,
        playing=settings.section(SolverConfig),
        sandbox=settings.section(SandboxConfig),
    )
