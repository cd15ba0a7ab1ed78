"""The clipped policy loss on sampled tokens. Pure functions of tensors.

Axis letters: N sampled tokens of any number of sequences, V vocabulary.
"""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

Aggregation = Literal["token-mean", "dr_grpo"]
MOST_SCALE = 50
MOST_APART = 10.0
"""Nats a token between reference and policy beyond which k3 grows no further, nor pulls."""


@dataclass(frozen=True)
class Clipping:
    """Bounds of the policy ratio and the cap of the importance weight."""

    low: float
    high: float
    importance_cap: float


@dataclass(frozen=True)
class TokenLoss:
    """Loss per sampled token and what is worth watching about it (all N; all but the loss detached)."""

    loss: Tensor
    weight: Tensor
    """The truncated importance weight."""
    capped: Tensor
    """1 where it was truncated."""
    low: Tensor
    high: Tensor
    """1 where the ratio fell below its lower bound, or rose above its upper one, and lost its gradient."""


class _ChosenLogprobs(torch.autograd.Function):
    """``log_softmax(logits / temperature)`` at one id of each row, and the entropy of each row.

    The probabilities of the forward pass are turned into the gradient where they lie: one (N, V)
    tensor lives on, where separate operations would keep and make several. A row's gradient is
    (onehot(id) - p) / temperature; the entropy has none.
    """

    @staticmethod
    def forward(
        ctx: Any, logits_N_V: Tensor, ids_N: Tensor, divisor_N: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        logits_N_V = logits_N_V.float()
        if divisor_N is not None:
            logits_N_V = logits_N_V / divisor_N[:, None]
        logp_N_V = torch.log_softmax(logits_N_V, -1)
        p_N_V = logp_N_V.exp()
        # A product row by row, without a tensor of all the terms.
        entropy_N = -torch.bmm(p_N_V[:, None, :], logp_N_V[:, :, None])[:, 0, 0]
        ctx.p_N_V, ctx.divisor_N = p_N_V, divisor_N
        ctx.save_for_backward(ids_N)
        ctx.mark_non_differentiable(entropy_N)
        return logp_N_V.gather(1, ids_N[:, None])[:, 0], entropy_N

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_N: Tensor, _: Tensor) -> tuple[Tensor, None, None]:
        (ids_N,) = ctx.saved_tensors
        if ctx.divisor_N is not None:
            grad_N = grad_N / ctx.divisor_N
        grad_N_V: Tensor = ctx.p_N_V.mul_(-grad_N[:, None])
        ctx.p_N_V = None  # spent
        grad_N_V.scatter_add_(1, ids_N[:, None], grad_N[:, None])
        return grad_N_V, None, None


def token_logprobs(
    logits_N_V: Tensor, ids_N: Tensor, temperature_N: Tensor
) -> tuple[Tensor, Tensor]:
    """Log-probabilities (nats, N) of ids under the distribution they were sampled from; its entropy (N).

    ``temperature_N`` must be the one used in sampling; 0 (greedy) counts as 1, as in a
    ``Completion``. Only the log-probabilities have a gradient, and it can be taken once.
    """
    divisor_N = torch.where(temperature_N == 0, 1.0, temperature_N)
    plain = bool((divisor_N == 1).all())
    logp_N, entropy_N = _ChosenLogprobs.apply(logits_N_V, ids_N, None if plain else divisor_N)  # type: ignore[no-untyped-call]
    return logp_N, entropy_N


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
    the cap, corrects what was sampled by older weights (truncated importance sampling). ``kl`` is
    (weight, reference log-probabilities) and adds Schulman's k3 estimate, exp(d) - d - 1 of
    d = reference - logp. There d is cut at ``MOST_APART``: one token that has drifted far would
    overflow, and give up the whole step; it is no longer pulled. Only ``logp`` may have a gradient.
    Raises ``ValueError`` for anything that is not finite: one such token would poison every weight.
    """
    for name, values in (
        ("log-probability", logp_N),
        ("anchor", anchor_N),
        ("recorded log-probability", behaviour_N),
        ("advantage", advantage_N),
        *([] if kl is None else [("reference", kl[1])]),
    ):
        if not bool(torch.isfinite(values).all()):
            raise ValueError(f"a sampled token has a {name} that is not finite")
    ratio_N = (logp_N - anchor_N).exp()
    whole_N = (anchor_N - behaviour_N).exp()
    weight_N = whole_N.clamp(max=clipping.importance_cap)
    bounded_N = ratio_N.clamp(1 - clipping.low, 1 + clipping.high)
    loss_N = -torch.minimum(ratio_N * advantage_N, bounded_N * advantage_N) * weight_N
    if kl is not None:
        kl_weight, reference_N = kl
        apart_N = (reference_N - logp_N).clamp(max=MOST_APART)
        loss_N = loss_N + kl_weight * (apart_N.exp() - apart_N - 1)
    return TokenLoss(
        loss_N,
        weight_N,
        capped=whole_N > clipping.importance_cap,
        low=(ratio_N < 1 - clipping.low) & (advantage_N < 0),
        high=(ratio_N > 1 + clipping.high) & (advantage_N > 0),
    )


def divisor(aggregation: Aggregation, *, tokens: int, episodes: float, length: int) -> float:
    """What the summed token losses of an update are divided by.

    ``token-mean``: its sampled tokens. ``dr_grpo``: its episodes times a constant length, so that
    long and short replies weigh by their tokens alone.
    """
    return float(max(1, tokens if aggregation == "token-mean" else episodes * length))


def pull(weight: float, designs: float, plays: float) -> float:
    """The weight of the designer's loss beside the solver's.

    In one sum over the episodes of both roles, the designer's rewards are scaled by plays / designs
    for both to pull equally, at most by 50, so that a few designs do not speak as loud as thousands of
    plays (SPADE, arXiv 2608.19197; here each step has designs, so its rounds between designs are 1).
    Divisors of each role's own are that scale already; what is left to do is its bound.
    """
    return weight * min(1.0, MOST_SCALE * designs / plays) if plays else weight
