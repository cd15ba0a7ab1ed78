"""What is refused before anything expensive begins: one line each, with what to do."""

from pathlib import Path
from typing import Any

from memory import Store
from solver.chat import Chat
from solver.config import PolicyConfig, SolverConfig, TrainConfig
from solver.openrlhf.config import ClusterConfig
from solver.samples import TEXT_ONLY, TRUNCATED, Batch, Sample, from_designs
from solver.validation import json_of
from solver.weights import weight_files
from spadekit.errors import BadInput
from spadekit.settings import Settings

TOO_LONG = "too long"


def open_chat(model: Path, settings: Settings) -> Chat:
    """Return the conversation format of a model that can be trained; ``BadInput`` for others."""
    if not weight_files(model):
        raise BadInput(
            f"{model} has no weights: a model behind an endpoint (policy.engine = chat) plays and "
            "designs, but cannot be trained"
        )
    longest = json_of(model / "config.json").get("max_position_embeddings")
    context = settings.section(ClusterConfig).context
    if longest is not None and context > longest:
        raise BadInput(
            f"cluster.context = {context}, but the model in {model} has {longest} positions; lower it"
        )
    return Chat.open(model, settings.section(PolicyConfig).thinking)


def designs_of(store: Store, settings: Settings, model: Path, shard: int, version: int) -> Batch:
    """Return the designs of a shard that policy ``version`` would be trained on from its parent.

    Designs longer than ``cluster.context`` are left out. Raises ``BadInput`` for a shard that is missing,
    and for one whose designs OpenRLHF cannot take.
    """
    data = store.shard(shard)
    train, solver = settings.section(TrainConfig), settings.section(SolverConfig)
    if not train.designer_weight:
        return Batch(())
    batch = from_designs(data.designs, version - 1, train.max_lag)
    if texts := batch.dropped[TEXT_ONLY]:
        raise BadInput(
            f"shard {shard} has {texts} designs without token ids (an engine that gives text only made "
            "them); set train.designer_weight = 0 to train on its plays alone, or leave the shard out"
        )
    if found := batch.dropped[TRUNCATED]:
        raise BadInput(
            f"shard {shard} has {found} designs sampled with top_p or top_k; set "
            "train.designer_weight = 0 to train on its plays alone, or leave the shard out"
        )
    vocabulary: Any = json_of(model / "config.json").get("vocab_size", 0)
    for one in batch.samples:
        if one.temperature != solver.temperature:
            raise BadInput(
                f"shard {shard} has designs sampled at temperature {one.temperature:g}, but OpenRLHF "
                f"has one temperature, solver.temperature = {solver.temperature:g}; make them equal"
            )
        if max(one.ids) >= vocabulary > 0:
            raise BadInput(
                f"a design of shard {shard} has the token id {max(one.ids)}, but the model has "
                f"{vocabulary}; train the model that made the shard"
            )
    return within(batch, settings.section(ClusterConfig).context)


def within(batch: Batch, context: int) -> Batch:
    """Leave out samples longer than ``context``, which OpenRLHF would cut in silence."""
    kept: list[Sample] = [one for one in batch.samples if len(one.ids) <= context]
    dropped = batch.dropped.copy()
    if len(kept) < len(batch.samples):
        dropped[TOO_LONG] += len(batch.samples) - len(kept)
    return Batch(tuple(kept), dropped, batch.dropped_groups)
