"""The section ``[cluster]``: the machines, and how one rollout is laid out on them."""

from dataclasses import dataclass, field
from typing import Literal

from solver.config import MOST_PLAYS


@dataclass(frozen=True)
class ClusterConfig:
    """Training with OpenRLHF: `spadework train --backend openrlhf`.

    A policy version is made in ``rollouts`` rollouts. Each has ``train.groups / rollouts`` rows of
    plays and ``design_rows`` rows of designs, every row ``train.group`` samples long, and is followed
    by ``train.solver_updates / rollouts`` optimiser steps on the samples of both roles.
    """

    # Where and how fast the work is done is not part of what comes of it (compare=False).
    python: str = field(default="", compare=False)
    """Interpreter that has OpenRLHF, whose pins do not go with this package's; empty: this one."""
    ray: str = field(default="", compare=False)
    """Address of a running Ray cluster; empty: Ray is started on this machine. The nodes of a cluster
    must see the home under the same path."""
    nodes: int = field(default=1, compare=False)
    """Machines that train."""
    gpus: int = field(default=8, compare=False)
    """GPUs of each."""
    gpu_gb: float = field(default=80.0, compare=False)
    """Memory of a GPU in GB, for what `--dry-run` foresees."""
    engines: int = field(default=8, compare=False)
    """vLLM engines that sample."""
    tensor_parallel: int = field(default=1, compare=False)
    """GPUs of one engine."""
    colocate: bool = field(default=True, compare=False)
    """Engines and trainer take turns on the same GPUs; otherwise the engines need GPUs of their own."""
    gpu_memory: float = field(default=0.5, compare=False)
    """Share of a GPU's memory that an engine takes for weights and key-value cache."""
    prefix_caching: bool = field(default=True, compare=False)
    """Keep the key-value rows between the turns of a conversation."""
    enforce_eager: bool = field(default=False, compare=False)
    """Engines without CUDA graphs: a faster start, slower samples."""
    zero_stage: Literal[2, 3] = field(default=2, compare=False)
    """What DeepSpeed spreads over the GPUs: 2 optimiser and gradients, 3 the weights too."""
    offload: bool = field(default=False, compare=False)
    """Optimiser state in the machine's memory instead of the GPU's."""
    gradient_checkpointing: bool = field(default=True, compare=False)
    attention: str = field(default="flash_attention_2", compare=False)
    """Attention of the trainer: `flash_attention_2`, `sdpa`, `eager`."""
    packing: bool = field(default=True, compare=False)
    """Train without padding; needs flash attention."""
    micro_batch: int = field(default=1, compare=False)
    """Samples of one forward pass on one GPU."""
    keep_optimiser: bool = field(default=True, compare=False)
    """Write the optimiser's state with every version, some 14 bytes per parameter (the last two are
    kept), so that the next launch goes on with it; otherwise every launch begins with a fresh Adam."""
    reply_s: float = field(default=900.0, compare=False)
    """Longest time for one reply of an engine."""
    silence_s: float = field(default=600.0, compare=False)
    """Engines that wait for the next step end when they hear nothing of `spadework train` for so long."""

    # The rest shapes the samples.
    context: int = 32_768
    """Most tokens of one sequence of either role; longer designs are left out."""
    rollouts: int = 1
    """Rollouts of one policy version."""
    design_rows: int = 4
    """Rows of a rollout that are kept for designs."""

    def __post_init__(self) -> None:
        for name in ("nodes", "gpus", "engines", "tensor_parallel", "micro_batch", "rollouts"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)} must be at least 1")
        if self.design_rows < 0:
            raise ValueError(f"design_rows = {self.design_rows} must not be negative")
        if self.rollouts * self.design_rows > MOST_PLAYS:
            raise ValueError(
                f"design_rows = {self.design_rows} are more than the {MOST_PLAYS} that one step may have"
            )
        if self.context < 2:
            raise ValueError(f"context = {self.context} must be at least 2")
        if not 0 < self.gpu_memory < 1:
            raise ValueError(f"gpu_memory = {self.gpu_memory} must lie between 0 and 1")
        for name in ("reply_s", "silence_s", "gpu_gb"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0")
        training, sampling = self.nodes * self.gpus, self.engines * self.tensor_parallel
        if self.colocate and training != sampling:
            raise ValueError(
                f"colocate = true: nodes x gpus = {training} must equal engines x tensor_parallel = "
                f"{sampling}; change one of them or set colocate = false"
            )
        if self.packing and "flash_attention" not in self.attention:
            raise ValueError(
                f"packing needs flash attention, attention = {self.attention!r}; set packing = false"
            )
