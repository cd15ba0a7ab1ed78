"""The clipped policy loss on sampled tokens. Pure functions of tensors.

Axis letters: N sampled tokens of any number of sequences, V vocabulary.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Aggregation = Literal["token-mean", "dr_grpo"]


@dataclass(frozen=True)
class Clipping:
    """Bounds of the policy ratio and the cap of the importance weight."""

    low: float
    high: float
    importance_cap: float


@dataclass(frozen=True)
class TokenLoss:
    """Loss per sampled token and what is worth watching about it (detached, N)."""

    loss: Tensor
    clipped: Tensor
    weight: Tensor


def token_logprobs(logits_N_V: Tensor, ids_N: Tensor, temperature_N: Tensor) -> Tensor:
    """Log-probabilities (nats, N) of ids under the distribution they were sampled from.

    ``temperature_N`` must be the one used in sampling; 0 (greedy) counts as 1, as in a
    ``Completion``.
    """
    divisor_N = torch.where(temperature_N == 0, 1.0, temperature_N)
    logits_N_V = logits_N_V.float() / divisor_N[:, None]
    chosen_N = logits_N_V.gather(1, ids_N[:, None])[:, 0]
    return chosen_N - logits_N_V.logsumexp(-1)


def policy_loss(
    logp_N: Tensor,
    anchor_N: Tensor,
    behaviour_N: Tensor,
    advantage_N: Tensor,
    *,
    clipping: Clipping,
    kl: tuple[float, Tensor] | None = None,
) -> TokenLoss:
    """Loss of each token: clipped ratio times advantage, weighted by truncated importance.

    ``logp`` is being trained; ``anchor`` is the same policy at the start of the update, to which
    the ratio is clipped; ``behaviour`` was recorded at sampling. exp(anchor - behaviour), cut at
    the cap, corrects what was sampled by older weights. ``kl`` is (weight, reference
    log-probabilities) and adds Schulman's k3 estimate. Raises ``ValueError`` for anything that is
    not finite: one such token would poison every weight.
    """
    for name, values in (
        ("log-probability", logp_N),
        ("anchor", anchor_N),
        ("recorded log-probability", behaviour_N),
        ("advantage", advantage_N),
    ):
        if not bool(torch.isfinite(values).all()):
            raise ValueError(f"a sampled token has a {name} that is not finite")
    ratio_N = (logp_N - anchor_N).exp()
    kept_N = ratio_N.clamp(1 - clipping.low, 1 + clipping.high)
    weight_N = (anchor_N - behaviour_N).exp().clamp(max=clipping.importance_cap).detach()
    plain_N, bound_N = ratio_N * advantage_N, kept_N * advantage_N
    loss_N = -torch.minimum(plain_N, bound_N) * weight_N
    if kl is not None:
        kl_weight, reference_N = kl
        apart_N = reference_N - logp_N
        loss_N = loss_N + kl_weight * (apart_N.exp() - apart_N - 1)
    return TokenLoss(loss_N, (bound_N < plain_N).float().detach(), weight_N)


def divisor(aggregation: Aggregation, *, tokens: int, samples: int, length: int) -> float:
    """What the summed token losses of an update are divided by.

    ``token-mean``: its sampled tokens. ``dr_grpo``: its samples times a constant length, so that
    long and short replies weigh by their tokens alone.
    """
    return float(max(1, tokens if aggregation == "token-mean" else samples * length))
