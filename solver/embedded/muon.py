"""Muon: momentum, orthogonalised by Newton-Schulz, for the matrices inside a small transformer."""

from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

# Coefficients of the quintic iteration, from Keller Jordan's Muon.
_A, _B, _C = 3.4445, -4.775, 2.0315


class Muon(torch.optim.Optimizer):
    """Updates 2-D parameters by the nearest (semi-)orthogonal matrix to their momentum."""

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float,
        momentum: float = 0.95,
        decay: float = 0.05,
        ranks: int = 1,
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "decay": decay})
        self._ranks = ranks

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Take one step; parameters of one shape are orthogonalised together."""
        for group in self.param_groups:
            alike: dict[tuple[int, ...], list[tuple[Tensor, Tensor]]] = {}
            for param in group["params"]:
                state = self.state[param]
                buffer = state.setdefault("momentum", torch.zeros_like(param))
                buffer.mul_(group["momentum"]).add_(param.grad)
                update = param.grad + group["momentum"] * buffer
                wide = update if param.shape[0] <= param.shape[1] else update.T
                alike.setdefault(tuple(wide.shape), []).append((param, wide))
            for pairs in alike.values():
                whole = self._orthogonal(torch.stack([update for _, update in pairs]))
                for (param, _), update in zip(pairs, whole, strict=True):
                    tall = param.shape[0] > param.shape[1]
                    rate = group["lr"] * max(1.0, param.shape[0] / param.shape[1]) ** 0.5
                    param.mul_(1 - group["lr"] * group["decay"])
                    param.add_(update.T if tall else update, alpha=-rate)

    def _orthogonal(self, x_N_R_C: Tensor) -> Tensor:
        """Share the matrices out among the ranks, which all hold the same updates."""
        if self._ranks == 1:
            return orthogonal(x_N_R_C)
        mine = slice(dist.get_rank(), None, self._ranks)
        whole = torch.zeros_like(x_N_R_C)
        whole[mine] = orthogonal(x_N_R_C[mine])
        dist.all_reduce(whole)
        return whole


def orthogonal(x_N_R_C: Tensor) -> Tensor:
    """Return N matrices of the same row space with all singular values near one (R <= C)."""
    x = x_N_R_C / (x_N_R_C.flatten(1).norm(dim=1)[:, None, None] + 1e-7)
    for _ in range(5):
        gram = x @ x.mT
        x = _A * x + (_B * gram + _C * (gram @ gram)) @ x
    result: Tensor = x
    return result
