"""What a training step takes of memory, by arithmetic: an estimate before anything is started.

Nothing here was measured; the terms are those of the ZeRO paper (arXiv 1910.02054, mixed precision with
Adam) and of what the two trainers keep. Activations are the roughest of them. GB are 10^9 bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from solver.config import PolicyConfig, SolverConfig, TrainConfig
from solver.openrlhf.config import ClusterConfig
from solver.shapes import Shape

RUNTIME = 4e9
"""CUDA context, communication buffers and fragmentation of one process on a GPU."""
ENGINE = 3e9
"""What an engine needs beside weights and key-value cache: activations of a prefill, CUDA graphs."""
FULL = 0.95
"""Share of a memory that can be used."""
LOGIT = 10
"""OpenRLHF's bytes a logit: a copy in float32, its gradient, and that of the bfloat16 original."""


@dataclass(frozen=True)
class Phase:
    """Something that happens on one device, and the bytes that it takes, by purpose."""

    name: str
    needs: Mapping[str, float]

    @property
    def total(self) -> float:
        """Bytes in all."""
        return sum(self.needs.values())

    def largest(self) -> str:
        """The three largest needs in words."""
        ordered = sorted(self.needs.items(), key=lambda one: -one[1])
        return ", ".join(f"{name} {value / 1e9:.0f}" for name, value in ordered[:3])


@dataclass(frozen=True)
class Footprint:
    """The phases of one device of ``capacity`` bytes (0: not known), and bytes of each machine's own
    memory."""

    device: str
    phases: tuple[Phase, ...]
    capacity: float
    host: float = 0.0


def activations(shape: Shape, tokens: int, checkpointing: bool, size: int) -> float:
    """Return bytes of what is kept for the backward pass of ``tokens`` positions, logits apart.

    One layer keeps some 10 vectors of the hidden size and 3 of the feed-forward's for each token (an
    expert's input and output besides); with checkpointing, a vector per layer and one layer's own.
    """
    ways = max(1, shape.active)
    vectors = 10 * shape.hidden + ways * 3 * shape.ff + (2 * ways * shape.hidden if ways > 1 else 0)
    if checkpointing:
        return float(tokens * size * (shape.layers * shape.hidden + vectors))
    return float(tokens * size * shape.layers * vectors)


def cluster(shape: Shape, config: ClusterConfig, train: TrainConfig) -> Footprint:
    """Return what a GPU of a cluster takes: DeepSpeed's ZeRO in bfloat16, engines of vLLM.

    ZeRO 2 spreads gradients and optimiser over all GPUs, ZeRO 3 the weights too and gathers two layers
    at a time. Colocated, engine and trainer sleep in turn: its weights stay beside the engine's.
    """
    count, capacity = shape.parameters, config.gpu_gb * 1e9
    spread = config.nodes * config.gpus
    kept = spread if config.zero_stage == 3 else 1
    tokens = config.micro_batch * config.context
    training = {
        "weights": 2 * count / kept,
        "gradients": 2 * count / spread,
        "optimiser": 0.0 if config.offload else 12 * count / spread,
        "activations": activations(shape, tokens, config.gradient_checkpointing, 2),
        "logits": float(tokens * shape.vocabulary * LOGIT),
        "runtime": RUNTIME,
    }
    if config.zero_stage == 3:
        training["gathered"] = 2.0 * 2 * (shape.per_layer + shape.vocabulary * shape.hidden)
    if train.kl:
        training["reference"] = 2 * count / kept
    sampling = {
        "engine": 2 * count / config.tensor_parallel + ENGINE,
        "cache": cache_room(shape, config),
    }
    if config.colocate:
        sampling |= {"trainer's weights": 2 * count / kept, "runtime": RUNTIME}
    phases = (Phase("training", training), Phase("sampling", sampling))
    optimiser = 12 * count / config.nodes
    engines = 2 * count * config.gpus / config.tensor_parallel if config.colocate else 0.0
    # Who sleeps does so in the machine's memory; an optimiser that was offloaded is always there.
    asleep = max(optimiser, engines) if config.colocate else 0.0
    host = optimiser + engines if config.offload else asleep
    return Footprint("GPU", phases, capacity, host)


def cache_room(shape: Shape, config: ClusterConfig) -> float:
    """Return the bytes that an engine has for its key-value cache on one GPU; none below 0."""
    share = config.gpu_memory * config.gpu_gb * 1e9
    return max(0.0, share - ENGINE - 2 * shape.parameters / config.tensor_parallel)


def cache_of(shape: Shape, positions: int, parts: int) -> float:
    """Return bytes of the key-value cache of ``positions`` tokens on one of ``parts`` GPUs."""
    return float(2 * shape.kv_values * positions / min(parts, shape.kv_heads))


def local(
    shape: Shape, policy: PolicyConfig, train: TrainConfig, solver: SolverConfig
) -> Footprint:
    """Return what the trainer on one machine takes: engine and trainer side by side in float32."""
    count = shape.parameters
    trained = train.lora_rank * shape.linear_edges if train.lora_rank else count
    size = 2 if policy.dtype == "bfloat16" else 4
    tokens = max(train.micro_tokens, solver.context)
    states = 1 if train.optimiser == "shared" else 2
    needs = {
        "engine": 4.0 * count,
        "engine's cache": policy.cache_mb * 1e6 + size * shape.kv_values * policy.batch_tokens,
        "weights": 4.0 * (count + (trained if train.lora_rank else 0)),
        "gradients": 4.0 * trained,
        "optimiser": 8.0 * states * trained,
        "activations": activations(shape, tokens, False, size),
        "logits": 8.0 * shape.vocabulary * tokens,
    }
    if train.kl:
        needs["reference"] = 4.0 * count
    return Footprint(policy.device, (Phase("training", needs),), 0.0)


def refusals(shape: Shape, config: ClusterConfig, train: TrainConfig) -> list[str]:
    """Return a line for each reason why a model cannot be trained on these machines; none: it can."""
    found, parts = [], config.tensor_parallel
    if shape.heads % parts:
        found.append(
            f"cluster.tensor_parallel = {parts} does not divide the model's {shape.heads} heads"
        )
    if parts > config.gpus:
        found.append(
            f"cluster.tensor_parallel = {parts} is more than a machine's cluster.gpus = {config.gpus}: "
            "an engine spread over machines waits for the network with every layer"
        )
    needed = cluster(shape, config, train)
    for phase in needed.phases:
        if phase.total > FULL * needed.capacity:
            found.append(
                f"{phase.name} needs about {phase.total / 1e9:.0f} GB of a GPU that has "
                f"cluster.gpu_gb = {config.gpu_gb:g} ({phase.largest()}); {_advice(phase, config)}"
            )
    room, one = cache_room(shape, config), cache_of(shape, config.context, parts)
    if room < one:
        found.append(
            f"an engine has {room / 1e9:.1f} GB of a GPU for its key-value cache, and one sequence of "
            f"cluster.context = {config.context} takes {one / 1e9:.1f}; raise cluster.tensor_parallel or "
            "cluster.gpu_memory"
        )
    return found


def _advice(phase: Phase, config: ClusterConfig) -> str:
    if phase.name == "sampling":
        return "lower cluster.gpu_memory, or set cluster.zero_stage = 3"
    largest = max(phase.needs, key=lambda name: phase.needs[name])
    if largest in ("weights", "reference") and config.zero_stage == 2:
        return "set cluster.zero_stage = 3"
    if largest == "optimiser":
        return "set cluster.offload = true, or train on more GPUs"
    if largest in ("logits", "activations"):
        return "lower cluster.context (and with it solver.context), or take larger GPUs"
    return "train on more or larger GPUs"
