"""The configuration as OpenRLHF's command line. A pure function; the flags are those of 0.11.2."""

from dataclasses import dataclass
from pathlib import Path

from solver.config import SolverConfig, TrainConfig
from solver.openrlhf.config import ClusterConfig
from solver.openrlhf.layout import Layout
from spadekit.settings import Settings

MODULE = "openrlhf.cli.train_ppo_ray"
ENDLESS = 1_000_000_000
CLIP = 1_000_000
"""Beyond every scaled reward: OpenRLHF cuts rewards at 10 by default."""


@dataclass(frozen=True)
class Places:
    """Files and folders of one launch."""

    model: Path
    """Where training began: actor, and reference of the KL term."""
    slots: Path
    agent: Path
    checkpoints: Path
    final: Path
    """Where OpenRLHF writes the model once more when it ends."""


def arguments(settings: Settings, laid: Layout, places: Places, *, resumes: bool) -> list[str]:
    """Return the arguments of a launch that makes policy versions until it is ended.

    It goes on from the newest state in ``places.checkpoints`` when it ``resumes``, else begins with the
    weights of ``places.model``. An episode is one pass over the slots and so one rollout. OpenRLHF counts
    episodes, and its place in the data, from the very beginning: with as many as lie behind it, or other
    data, it would end at once, and well.
    """
    train, solver = settings.section(TrainConfig), settings.section(SolverConfig)
    cluster = settings.section(ClusterConfig)
    values: dict[str, object] = {
        "actor.model_name_or_path": places.model,
        "actor.num_nodes": cluster.nodes,
        "actor.num_gpus_per_node": cluster.gpus,
        "vllm.num_engines": cluster.engines,
        "vllm.tensor_parallel_size": cluster.tensor_parallel,
        "vllm.gpu_memory_utilization": cluster.gpu_memory,
        "vllm.sync_backend": "nccl",
        "train.agent_func_path": places.agent,
        "train.seed": train.seed,
        "train.batch_size": laid.batch,
        "train.micro_batch_size": cluster.micro_batch,
        "train.num_episodes": ENDLESS,
        "data.prompt_dataset": places.slots,
        "data.input_key": "prompt",
        "data.label_key": "label",
        "data.max_len": cluster.context,
        "rollout.batch_size": laid.rows,
        "rollout.micro_batch_size": cluster.micro_batch,
        "rollout.n_samples_per_prompt": laid.row,
        "rollout.temperature": solver.temperature,
        "rollout.max_new_tokens": solver.max_tokens,
        # Rewards come as advantages; the mean of a row, which it takes off, is zero: see ``rows``.
        "algo.advantage.estimator": "dr_grpo",
        # Truncated importance sampling: the weight of every token, cut from above.
        "algo.advantage.is_correction_level": "token",
        "algo.advantage.is_correction_mode": "clip",
        "algo.advantage.is_correction_threshold": train.importance_cap,
        "algo.kl.init_coef": train.kl,
        "reward.clip_range": (-CLIP, CLIP),
        "actor.eps_clip_low_high": (train.clip_low, train.clip_high),
        "actor.loss_agg_mode": "token-mean",
        "actor.adam.lr": train.solver_rate,
        "actor.adam.betas": (train.beta1, train.beta2),
        "actor.adam.weight_decay": train.weight_decay,
        "actor.max_norm": train.grad_clip,
        # With its default warm-up the first optimiser step of every launch has the rate 0.
        "actor.lr_scheduler": "constant",
        "actor.lr_warmup_ratio": 0.0,
        "ds.zero_stage": cluster.zero_stage,
        "ds.attn_implementation": cluster.attention,
        "ckpt.path": places.checkpoints,
        "ckpt.output_dir": places.final,
        "ckpt.save_steps": cluster.rollouts,
        # It removes the oldest before it writes the next; with 1 a crash would leave none.
        "ckpt.max_num": 2,
    }
    switches = {
        "ckpt.save_hf": True,
        "ckpt.disable_ds": not cluster.keep_optimiser,
        "ckpt.load_enable": resumes,
        "train.colocate_all": cluster.colocate,
        "vllm.enable_sleep": cluster.colocate,
        "ds.enable_sleep": cluster.colocate,
        "vllm.enable_prefix_caching": cluster.prefix_caching,
        "vllm.enforce_eager": cluster.enforce_eager,
        "ds.packing_samples": cluster.packing,
        "ds.adam_offload": cluster.offload,
        "actor.gradient_checkpointing_enable": cluster.gradient_checkpointing,
    }
    if train.kl:
        values |= {
            "algo.kl.estimator": "k3",
            "ref.num_nodes": cluster.nodes,
            "ref.num_gpus_per_node": cluster.gpus,
        }
        switches |= {"algo.kl.use_loss": True, "train.colocate_actor_ref": not cluster.colocate}
    found = []
    for name, value in values.items():
        found += [f"--{name}", *map(str, value if isinstance(value, tuple) else (value,))]
    return found + [f"--{name}" for name, on in switches.items() if on]


def gpus(cluster: ClusterConfig) -> int:
    """Return how many GPUs a launch takes in all."""
    training = cluster.nodes * cluster.gpus
    return training if cluster.colocate else training + cluster.engines * cluster.tensor_parallel
