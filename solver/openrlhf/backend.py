"""A run of the cluster backend: refusals first, then launch, watch, publish, plan the next step.

This process and OpenRLHF's share one folder (``solver.openrlhf.run``). For every policy version: the step
is planned as on one machine and handed over as rows; the engines play them; OpenRLHF updates and writes a
model folder; that becomes the version, with the plays in the store; then the next step is planned, for
which the engines wait. So one launch makes any number of versions, and what it knows of the store is
never old.

What a killed launch did beyond its last version is done again by the next. That one goes on with the
optimiser's state of the newest version, where there is one and the settings are the same.
"""

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memory import Store
from sandbox import SandboxConfig
from solver.config import PolicyConfig, SolverConfig, TrainConfig
from solver.openrlhf import rows as cut
from solver.openrlhf.checkpoint import Checkpoints, check_config, fill, missing
from solver.openrlhf.command import Places, arguments
from solver.openrlhf.config import ClusterConfig
from solver.openrlhf.launch import Launch, launched, require
from solver.openrlhf.layout import Layout, layout
from solver.openrlhf.measuring import step_metrics, together
from solver.openrlhf.refusals import designs_of, open_chat
from solver.openrlhf.run import Run, Spec
from solver.planning import Plan, observed, plan, write_curriculum
from solver.samples import Batch, from_plays
from solver.trainer import settle
from solver.versions import CURRICULUM, INFO, OPTIMISER, PolicyInfo, Versions
from spadekit.errors import BadInput, OurFault
from spadekit.files import write_atomic
from spadekit.settings import Settings

Work = tuple[int, int]
"""A shard and the policy version to train on it."""
Note = Callable[[str], None]
_LOOK_S = 0.5
_END_S = 600.0
"""OpenRLHF writes the model once more when it has finished."""
_LOG_S = 10.0
"""Longest wait for a line of the log that tells of work known to be done."""


def train(
    store: Store,
    versions: Versions,
    settings: Settings,
    home: Path,
    work: Sequence[Work],
    note: Note,
) -> list[dict[str, Any]]:
    """Make the policy versions of ``work``, one after the other, in one launch; return their metrics.

    Raises ``BadInput`` before anything is started for whatever OpenRLHF cannot do with the settings, the
    model, the shards or this machine, and ``OurFault`` when it ends without having made a version.
    """
    cluster = settings.section(ClusterConfig)
    parent = work[0][1] - 1
    versions.validate(parent)
    model = versions.path(parent).resolve()
    laid = layout(settings, bool(open_chat(model, settings).separate))
    require(cluster, settings.section(SandboxConfig))
    for shard, version in work:
        designs = designs_of(store, settings, model, shard, version)
        _deal_designs(designs, laid, settings, 1.0)
    root = home.resolve() / "cluster"
    checkpoints = Checkpoints(root / f"state-{_lineage(settings)}")
    done = _done(checkpoints, parent, settings, note)
    run = Run(_next_folder(root))
    run.begin(_spec(model, settings, laid), laid)
    begun = checkpoints.first()
    assert begun is not None
    places = Places(
        model=versions.path(begun).resolve(),
        slots=run.slots,
        agent=run.agent,
        checkpoints=checkpoints.root,
        final=run.folder / "final",
    )
    told = arguments(settings, laid, places, done, len(work))
    write_atomic(run.folder / "command.txt", " ".join(told).encode() + b"\n")
    note(f"OpenRLHF starts; what it says goes to {run.folder / 'log.txt'}")
    made = []
    with launched(cluster, told, run.folder) as launch:
        task = _Task(store, versions, settings, laid, run, checkpoints, launch, note)
        for number, (shard, version) in enumerate(work):
            step = done + (number + 1) * cluster.rollouts
            made.append(task.make(number, shard, version, step))
            note(f"policy version {version} published, trained on shard {shard}")
        if not launch.finish(_END_S):
            note(f"OpenRLHF did not end well: {launch.why()}")
    checkpoints.prune(done + len(work) * cluster.rollouts)
    run.tidy()
    return made


@dataclass(frozen=True)
class _Task:
    """Makes the versions of one launch."""

    store: Store
    versions: Versions
    settings: Settings
    laid: Layout
    run: Run
    checkpoints: Checkpoints
    launch: Launch
    note: Note

    def make(self, number: int, shard: int, version: int, step: int) -> dict[str, Any]:
        """Have the launch's ``number``-th version made, by global step ``step``, and publish it."""
        began = time.perf_counter()
        train, cluster = self.settings.section(TrainConfig), self.settings.section(ClusterConfig)
        planned = plan(self.store, self.versions, train, shard, version)
        parent = self.versions.path(planned.parent.version)
        designs = designs_of(self.store, self.settings, parent, shard, version)
        planned = replace(planned, designs=designs)
        self.run.plan(number, self._rollouts(planned))
        written = self.checkpoints.model(step)
        self._await(written, number, version, len(planned.jobs) // self.laid.plays)

        played = self.run.played(number)
        records = [record for one in played for record in one.plays]
        steps = range(step - cluster.rollouts + 1, step + 1)
        logged = together([self.launch.figures(one, _LOG_S) for one in steps])
        check_config(written, parent)
        self.store.append_plays(records)
        settle(self.store, planned, records)
        metrics = step_metrics(
            planned, played, from_plays(records), logged, time.perf_counter() - began
        )
        info = PolicyInfo(
            version,
            planned.parent.version,
            planned.parent.step + cluster.rollouts,
            shard,
            self.settings.digest,
            {},
            metrics,
        )

        def write(folder: Path) -> None:
            fill(folder, written, parent, leave={INFO, OPTIMISER, CURRICULUM})
            write_curriculum(folder, planned.choice, observed(planned, records))

        self.versions.publish(info, write)
        self.checkpoints.note(version, step)
        # Not yet its own: OpenRLHF may still be writing the tokenizer into it.
        self.checkpoints.prune(step - 1)
        return metrics

    def _rollouts(self, step: Plan) -> list[list[cut.Row]]:
        """Cut a planned step into the rows of its rollouts."""
        train, cluster = self.settings.section(TrainConfig), self.settings.section(ClusterConfig)
        samples = step.designs.samples
        designs = cut.Amount(len(samples), float(sum(one.tokens for one in samples)))
        shown = sum(
            one.tokens for part in _worth_showing(step.designs, self.laid, train) for one, _ in part
        )
        otherwise = float(self.settings.section(SolverConfig).max_tokens)
        each = cut.tokens_of_a_play(self.store.shard(step.shard).plays, otherwise)
        plays = cut.Amount(len(step.jobs), len(step.jobs) * each)
        for_plays, for_designs = cut.balance(plays, designs, float(shown), train)
        like = cut.Row(
            scale=for_plays,
            version=step.parent.version,
            origin=(step.parent.weights, self.settings.digest, self.run.folder.name),
        )
        pairs = zip(
            cut.deal_plays(step.jobs, self.laid.plays, cluster.rollouts, like),
            _deal_designs(step.designs, self.laid, self.settings, for_designs),
            strict=True,
        )
        return [cut.fill(own, others, self.laid) for own, others in pairs]

    def _await(self, written: Path, number: int, version: int, groups: int) -> None:
        """Wait until OpenRLHF has written a version's model; ``OurFault`` when it will not."""
        while missing(written):
            faults = self.run.faults(number)
            if groups and len(faults) == groups:
                raise OurFault(f"policy version {version}: nothing could be played: {faults[0]}")
            if self.launch.ended and missing(written):
                raise OurFault(f"OpenRLHF ended without version {version}: {self.launch.why()}")
            time.sleep(_LOOK_S)
        if faults := self.run.faults(number):
            self.note(f"{len(faults)} of {groups} groups could not be played: {faults[0]}")


def _worth_showing(designs: Batch, laid: Layout, train: TrainConfig) -> list[list[Any]]:
    return cut.worth_showing(cut.compared(designs.samples, laid.row), train.kl)


def _deal_designs(
    designs: Batch, laid: Layout, settings: Settings, scale: float
) -> list[list[cut.Row]]:
    parts = _worth_showing(designs, laid, settings.section(TrainConfig))
    return cut.deal_designs(parts, laid, settings.section(ClusterConfig).rollouts, scale)


def _done(checkpoints: Checkpoints, parent: int, settings: Settings, note: Note) -> int:
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


def _lineage(settings: Settings) -> str:
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
        plan_s=cluster.plan_s,
        model=str(model),
        thinking=settings.section(PolicyConfig).thinking,
        playing=settings.section(SolverConfig),
        sandbox=settings.section(SandboxConfig),
    )
