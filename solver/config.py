"""The configuration sections of the solver: policy, playing, training, synchronisation."""

import math
from dataclasses import dataclass, field
from typing import Literal

MOST_PLAYS = 1_000_000
"""Of one training step: all are planned before the first, and kept until the last."""
MOST_THREADS = 1_024
"""Of torch, which starts as many as it is told, needed or not."""


@dataclass(frozen=True)
class PolicyConfig:
    """Which model speaks, and how the engine runs it."""

    model: str = "embedded"
    """`embedded` (the model shipped with the package) or a folder in the transformers format; with
    the engine `chat` the name that the endpoint knows the model by."""
    engine: Literal["local", "vllm", "chat"] = "local"
    """`local`: transformers in this process; `vllm`: a vLLM server that serves the same model;
    `chat`: any OpenAI-compatible endpoint, text only, so it designs and plays but is not trained."""
    max_batch: int = 128
    """Most rows decoded together."""
    batch_tokens: int = 32_768
    """Most cached positions (rows x width) of one batch; bounds the memory of long contexts."""
    cache_mb: int = 512
    """Memory for the key-value rows kept between the turns of a conversation; 0 keeps none."""
    threads: int = 1
    """Torch threads of the sampling thread."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where the `local` engine samples and the trainer trains; `cuda` is one GPU. What a killed step
    gives when it is done again is the same to the bit on a CPU; a GPU's kernels do not promise it."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """What forward passes compute in. Weights and optimiser states are float32 either way."""
    thinking: Literal["default", "on", "off"] = "default"
    """Whether the model is to reason before it answers, where its chat template has a switch
    (`enable_thinking`: Qwen3 and others)."""
    patience_s: float = 2.0
    """Longest wait for the last open plays to ask, so that batches are full and repeatable."""

    # The rest is for the engines behind a URL. None of it shapes what is sampled (compare=False), so
    # a round that was begun may be finished with other values.
    url: str = field(default="http://127.0.0.1:8000", compare=False)
    """`vllm`: the server; `chat`: what `/chat/completions` is joined to, mostly ending in `/v1`."""
    key_variable: str = field(default="", compare=False)
    """Environment variable that holds the endpoint's key; empty: none is sent."""
    in_flight: int = field(default=64, compare=False)
    """Most requests open at once."""
    timeout_s: float = field(default=600.0, compare=False)
    """Longest time for one answer."""
    outage_s: float = field(default=120.0, compare=False)
    """Give up when the server has answered nobody for this long."""
    load_s: float = field(default=300.0, compare=False)
    """Longest time for one switch of weights: a server's, or reading them from the disk."""
    input_price: float = field(default=0.0, compare=False)
    output_price: float = field(default=0.0, compare=False)
    """Price of a million tokens read and sampled; 0: the cost is not shown."""

    def __post_init__(self) -> None:
        _at_least(self, 1, "max_batch", "batch_tokens", "threads", "in_flight")
        _at_least(self, 0, "cache_mb", "patience_s", "outage_s", "input_price", "output_price")
        _at_most(self, MOST_THREADS, "threads")
        for name in ("timeout_s", "load_s"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0")
        if not self.model:
            raise ValueError("model is empty; write `embedded` or the path of a model folder")


@dataclass(frozen=True)
class SolverConfig:
    """How the policy plays an episode."""

    prompt: Literal["short", "full"] = "short"
    """`short` shows the bare observation (embedded policy); `full` explains the setting first."""
    temperature: float = 1.0
    top_p: float = 1.0
    """Sample from the likeliest tokens that have this much of the probability together; training needs
    1, since a token that could not be drawn has no log-probability to compare."""
    top_k: int = 0
    """Sample from this many of the likeliest tokens; 0: all of them, which training needs."""
    max_tokens: int = 64
    """Most tokens of one reply."""
    max_turns: int = 12
    """Most replies of one episode; the environment's own limit may be lower."""
    context: int = 1024
    """Most tokens of one conversation, prompt and replies together."""
    concurrency: int = 128
    """Episodes open at once."""
    sources: int = 12
    """Different environments open at once; keep it below sandbox.pool_jails."""

    def __post_init__(self) -> None:
        _at_least(self, 0, "temperature", "top_k")
        _finite(self, "temperature")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p = {self.top_p} must lie above 0, at most at 1")
        _at_least(self, 1, "max_tokens", "max_turns", "concurrency", "sources")
        if self.context <= self.max_tokens:
            raise ValueError(
                f"context = {self.context} leaves no room beside max_tokens = {self.max_tokens}; "
                "raise context or lower max_tokens"
            )


@dataclass(frozen=True)
class TrainConfig:
    """One GRPO step for both roles."""

    groups: int = 12
    """Groups of one step; a group is one instance, an (environment, seed) pair."""
    group: int = 16
    """Plays of one group."""
    instances: int = 3
    """Most instances of one environment, where there are fewer environments than groups."""
    replay: float = 0.25
    """Share of the environments taken from older shards while they are at the frontier, the last of them
    one that was closed long ago and is looked at again; 0: none of older shards."""
    curriculum: Literal["frontier", "uniform"] = "frontier"
    """`uniform`: the shard's environments in turn, whatever their standing, and none of older shards."""
    optimiser: Literal["separate", "shared"] = "separate"
    """`separate`: each role has its own Adam state and steps; `shared`: one step on the sum."""
    solver_rate: float = 3e-4
    designer_rate: float = 1e-4
    """Learning rates; a shared optimiser uses the solver's."""
    solver_weight: float = 1.0
    designer_weight: float = 1.0
    """Loss weights; 0 leaves a role out. They tell under `shared`: Adam takes no notice of the size of a
    loss, so that with an optimiser for each role the rates and numbers of updates decide."""
    solver_updates: int = 4
    designer_updates: int = 1
    """Optimiser steps per role and training step, each on its own part of the samples."""
    clip_low: float = 0.2
    clip_high: float = 0.28
    aggregation: Literal["token-mean", "dr_grpo"] = "token-mean"
    dr_grpo_tokens: int = 256
    """The constant length that `dr_grpo` divides by."""
    advantages: Literal["centred", "scaled"] = "centred"
    """`scaled` also divides by the root mean square over the role (never over a small group)."""
    importance_cap: float = 2.0
    """Truncation of the importance weight of a stale sample."""
    max_lag: int = 4
    """Designs of policies more versions behind than this are left out."""
    micro_tokens: int = 4096
    """Most padded tokens of one forward and backward pass."""
    beta1: float = 0.9
    beta2: float = 0.98
    weight_decay: float = 0.0
    grad_clip: float = 1.0
    lora_rank: int = 0
    """Train an adapter of this rank on every linear layer (LoRA); 0 trains all weights. A home goes on
    as it was begun."""
    lora_alpha: int = 32
    """The adapter's product counts alpha / rank times."""
    kl: float = 0.0
    """Weight of the KL term to the starting policy (version 0); 0 never loads it."""
    threads: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        _at_least(self, 1, "groups", "instances", "solver_updates", "designer_updates")
        _at_least(
            self, 1, "dr_grpo_tokens", "micro_tokens", "threads", "importance_cap", "lora_alpha"
        )
        _at_least(self, 0, "solver_rate", "designer_rate", "solver_weight", "designer_weight")
        _at_least(self, 0, "max_lag", "weight_decay", "kl", "clip_low", "clip_high", "lora_rank")
        _finite(self, "solver_rate", "designer_rate", "solver_weight", "designer_weight")
        _finite(self, "weight_decay", "kl")
        _at_most(self, MOST_THREADS, "threads")
        if self.groups * self.group > MOST_PLAYS:
            raise ValueError(
                f"groups = {self.groups} of group = {self.group} plays are more than the {MOST_PLAYS} "
                "that one step may have"
            )
        if self.group < 2:
            raise ValueError("group must be at least 2: a group of one has no advantage")
        for name in ("replay", "beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)} must lie in [0, 1)")
        if self.clip_low >= 1:
            raise ValueError(f"clip_low = {self.clip_low} must lie below 1")
        if self.grad_clip <= 0:
            raise ValueError("grad_clip must be above 0")


@dataclass(frozen=True)
class SyncConfig:
    """When the designer's side takes over new weights."""

    every: int = 1
    """Switch after this many policy versions."""
    max_ahead: int = 2
    """Most shards that a producer of its own may be ahead of the trainer, the one it works at included:
    shard n is designed by version n - max_ahead. `loop` takes turns, which is 1."""
    watch_s: float = field(default=1.0, compare=False)
    """How often a process that waits for the other looks at what it waits for."""

    def __post_init__(self) -> None:
        _at_least(self, 1, "every", "max_ahead")
        if not self.watch_s > 0:
            raise ValueError("watch_s must be above 0")


def _at_least(config: object, bound: float, *names: str) -> None:
    for name in names:
        value = getattr(config, name)
        if not value >= bound:
            raise ValueError(f"{name} = {value} must be at least {bound:g}")


def _at_most(config: object, bound: int, *names: str) -> None:
    for name in names:
        value = getattr(config, name)
        if not value <= bound:
            raise ValueError(f"{name} = {value} must be at most {bound}")


def _finite(config: object, *names: str) -> None:
    for name in names:
        if math.isinf(getattr(config, name)):
            raise ValueError(f"{name} must not be infinite")
