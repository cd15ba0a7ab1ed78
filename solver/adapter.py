"""Low-rank adapters (LoRA, arXiv 2106.09685): few weights trained beside frozen ones.

A policy version always holds whole weights, those of version 0 plus the adapter's product. So every
engine serves a version as it is, switching is one read, and a version is good without its parents; the
price is its size on disk. The adapter itself is state of the trainer and lies with the optimiser's. Each
version is added up from version 0 anew: rounding does not pile up.
"""

from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, inject_adapter_in_model
from peft.tuners.lora import Linear

from solver.weights import load_model
from spadekit.errors import BadInput

NAME = "default"


def add(model: Any, rank: int, alpha: int, seed: int) -> None:
    """Freeze a model and add an adapter to each of its linear layers, the output layer excepted.

    Raises ``BadInput`` for a rank above the width of every layer: such factors are larger than what they
    stand for. It changes nothing at first: one of its two factors is zero, the other is drawn from the seed.
    """
    linear = [one for one in model.modules() if isinstance(one, torch.nn.Linear)]
    widest = max((min(one.in_features, one.out_features) for one in linear), default=rank)
    if rank > widest:
        raise BadInput(
            f"train.lora_rank = {rank} exceeds the width of the model's layers, {widest}; lower it, or "
            "train all weights with train.lora_rank = 0"
        )
    config = LoraConfig(r=rank, lora_alpha=alpha, target_modules="all-linear", lora_dropout=0.0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        inject_adapter_in_model(config, model, NAME)


def merged(model: Any, base: Path) -> Any:
    """Return a model of its own with the weights of ``base`` plus what the adapters of ``model`` add."""
    whole = load_model(base)
    with torch.no_grad():
        for name, layer in model.named_modules():
            if isinstance(layer, Linear):
                weight = whole.get_submodule(name).weight
                weight += layer.get_delta_weight(NAME).to(weight.device)
    return whole
