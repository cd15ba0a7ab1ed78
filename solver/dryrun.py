"""What ``spadework train`` would do, told without loading weights, starting or writing anything."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memory import MemoryConfig, Store
from solver import footprint, shapes
from solver.config import PolicyConfig, SolverConfig, TrainConfig
from solver.curriculum import State
from solver.manifest import SHIPPED
from solver.openrlhf.command import MODULE, Places, arguments, gpus
from solver.openrlhf.config import ClusterConfig
from solver.openrlhf.layout import Layout, layout
from solver.planning import Plan, plan_after, read_curriculum
from solver.versions import PolicyInfo, Versions
from spadekit.errors import BadInput
from spadekit.settings import Settings

Figures = Mapping[str, Any]


@dataclass(frozen=True)
class Outline:
    """What would be done. ``refusals``: why the machines cannot do it, a line each."""

    step: Figures
    work: Figures
    machines: Figures
    memory: Sequence[Figures]
    command: str = ""
    notes: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def outline(settings: Settings, home: Path, shard: int | None, version: int | None) -> Outline:
    """Tell what one machine would do to make ``version`` from ``shard``; None: there is no shard yet.

    Raises ``BadInput`` for a step that cannot be planned.
    """
    step, notes = _step(settings, home, shard, version)
    shape, notes = _shape(settings, notes)
    policy, train = settings.section(PolicyConfig), settings.section(TrainConfig)
    solver = settings.section(SolverConfig)
    machines: dict[str, Any] = {
        "backend": "local",
        "device": policy.device,
        "threads": train.threads,
    }
    machines |= _model(policy, shape)
    memory: list[Figures] = []
    refusals: tuple[str, ...] = ()
    if shape:
        found = footprint.local(shape, policy, train, solver)
        memory = _memory(found)
        if policy.device == "cpu":
            has = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
            machines["memory, GB"] = round(has / 1e9, 1)
            needed = found.phases[0]
            if needed.total > footprint.FULL * has:
                refusals = (
                    f"training needs about {needed.total / 1e9:.0f} GB and this machine has "
                    f"{has / 1e9:.0f} ({needed.largest()}); train a smaller model, an adapter "
                    "(train.lora_rank), or on a cluster (--backend openrlhf)",
                )
    work = _work(settings, None)
    return Outline(step, work, machines, memory, notes=notes, refusals=refusals)


def outline_cluster(
    settings: Settings, home: Path, shard: int | None, version: int | None
) -> Outline:
    """Tell what OpenRLHF would do on the machines of ``[cluster]``, and with which command.

    Raises ``BadInput`` for a step that cannot be planned and for settings that OpenRLHF cannot honour.
    """
    step, notes = _step(settings, home, shard, version)
    shape, notes = _shape(settings, notes)
    cluster, train = settings.section(ClusterConfig), settings.section(TrainConfig)
    policy = settings.section(PolicyConfig)
    # Whether turns are sequences of their own is decided by the model's chat template, which may be
    # elsewhere; templates that drop earlier reasoning are those of models that reason.
    laid = layout(settings, policy.thinking == "on")
    command = arguments(settings, laid, _places(home), resumes=False)
    training, engines = cluster.nodes * cluster.gpus, cluster.engines * cluster.tensor_parallel
    machines: dict[str, Any] = {
        "backend": "openrlhf",
        "machines": cluster.nodes,
        "GPUs": gpus(cluster),
        "GPU memory, GB": cluster.gpu_gb,
        "actor ranks": f"{cluster.nodes} x {cluster.gpus}",
        "reference ranks": f"{cluster.nodes} x {cluster.gpus}" if train.kl else 0,
        "engines": f"{cluster.engines} of {cluster.tensor_parallel} GPUs",
        "colocated": cluster.colocate,
        "ZeRO": f"{cluster.zero_stage}{', optimiser offloaded' if cluster.offload else ''}",
    }
    if not cluster.colocate:
        machines["GPUs"] = f"{training} train, {engines} sample"
    machines |= _model(policy, shape)
    memory: list[Figures] = []
    refusals: list[str] = []
    if shape:
        found = footprint.cluster(shape, cluster, train)
        memory = _memory(found)
        machines["memory of a machine, GB"] = round(found.host / 1e9)
        room = footprint.cache_room(shape, cluster)
        one = footprint.cache_of(shape, cluster.context, cluster.tensor_parallel)
        machines["sequences of full length that an engine holds"] = int(room // one)
        machines["plays for an engine"] = -(-laid.play_rows * laid.plays // cluster.engines)
        refusals = footprint.refusals(shape, cluster, train)
    interpreter = cluster.python or Path(sys.executable).name
    return Outline(
        step,
        _work(settings, laid),
        machines,
        memory,
        " ".join([interpreter, "-m", MODULE, *command]),
        notes,
        tuple(refusals),
    )


def _step(
    settings: Settings, home: Path, shard: int | None, version: int | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return what is known of the step itself, and what is not there yet."""
    if shard is None or version is None:
        return {"shard": None}, ("there is no shard yet: the figures are those of a full one",)
    versions = Versions(home / "policy")
    parent, state = PolicyInfo(0, None, 0, None, "", {}, {}), State()
    notes: tuple[str, ...] = ()
    if version > 1 or versions.has(0):
        # Not validated: that would read the weights.
        parent = versions.read(version - 1)
        state = read_curriculum(versions.path(parent.version))
    else:
        notes = ("policy version 0 is made of policy.model at the first start",)
    memory = settings.section(MemoryConfig)
    with Store.open(memory.place(home), memory) as store:
        step = plan_after(store, parent, state, settings.section(TrainConfig), shard)
    told = {"version": version, "parent": parent.version, "shard": shard}
    return told | _planned(step), notes


def _planned(step: Plan) -> dict[str, Any]:
    return {
        "environments": len(step.environments),
        "chosen": step.choice.counts(),
        "left out": dict(step.choice.left_out),
        "groups": len({(job.environment, job.seed) for job in step.jobs}),
        "plays": len(step.jobs),
        "designs": len(step.designs.samples),
        "design tokens": sum(sample.tokens for sample in step.designs.samples),
        "designs left out": dict(step.designs.dropped),
    }


def _work(settings: Settings, laid: Layout | None) -> dict[str, Any]:
    """Return the most that a step of these settings plays and trains on."""
    train, solver = settings.section(TrainConfig), settings.section(SolverConfig)
    groups = train.groups if train.solver_weight else 0
    plays = groups * train.group
    reply = min(solver.context, solver.max_turns * solver.max_tokens)
    work: dict[str, Any] = {
        "groups": groups,
        "plays": plays,
        "tokens played": plays * reply,
        "optimiser": train.optimiser,
    }
    if train.optimiser == "shared":
        work["optimiser steps"] = train.solver_updates
    else:
        work["optimiser steps"] = {
            role: updates
            for role, updates, weight in (
                ("solver", train.solver_updates, train.solver_weight),
                ("designer", train.designer_updates, train.designer_weight),
            )
            if weight
        }
    if laid:
        cluster = settings.section(ClusterConfig)
        work |= {
            "rollouts": cluster.rollouts,
            "rows of a rollout": f"{laid.play_rows} of plays, {laid.design_rows} of designs",
            "samples of a row": laid.row,
            "samples of an optimiser step": laid.batch,
        }
    return work


def _shape(
    settings: Settings, notes: tuple[str, ...]
) -> tuple[shapes.Shape | None, tuple[str, ...]]:
    policy = settings.section(PolicyConfig)
    if policy.engine == "chat":
        raise BadInput("policy.engine = chat gives text only, which cannot be trained on")
    folder = SHIPPED if policy.model == "embedded" else Path(policy.model).expanduser()
    found = shapes.find(folder)
    if found is None:
        known = ", ".join(shapes.KNOWN)
        return None, (
            *notes,
            f"memory is not foreseen: {folder} has no config.json of a kind that can be sized "
            f"({', '.join(shapes.FAMILIES)}), and is none of {known}",
        )
    if not (folder / "config.json").is_file():
        notes = (*notes, f"{folder} is not there: the sizes are those of a model of that name")
    return found, notes


def _model(policy: PolicyConfig, shape: shapes.Shape | None) -> dict[str, Any]:
    if shape is None:
        return {"model": policy.model}
    told = {"model": policy.model, "parameters": shape.parameters}
    return told | ({"parameters at work": shape.working} if shape.experts else {})


def _memory(found: footprint.Footprint) -> list[Figures]:
    return [
        {"device": found.device, "phase": phase.name, "need": name, "GB": round(value / 1e9, 3)}
        for phase in found.phases
        for name, value in (*phase.needs.items(), ("total", phase.total))
        if value
    ]


def _places(home: Path) -> Places:
    """Return where the files of a first launch would lie."""
    root = home / "cluster"
    run = root / "run-0001"
    return Places(
        model=home / "policy" / "v000000",
        slots=run / "slots.jsonl",
        agent=run / "agent.py",
        checkpoints=root / "state",
        final=run / "final",
    )
