"""The weights being trained: log-probabilities, gradients, and one Adam state per optimiser.

Axis letters: B sequences of a micro-batch, T positions, N sampled tokens, D hidden size.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from solver.config import TrainConfig
from solver.loss import Clipping, TokenLoss, policy_loss, token_logprobs
from solver.samples import Sample
from solver.versions import OPTIMISER
from solver.weights import MEND, load_model
from spadekit.errors import BadInput


@dataclass
class Item:
    """A sample on its way into an update. Tensors run over its sampled tokens."""

    sample: Sample
    advantage: float
    anchor: Tensor | None = None
    """Log-probabilities under the policy that the ratio is clipped to (see ``solver.update``); None:
    those computed in the step itself."""
    reference: Tensor | None = None


@dataclass(frozen=True)
class Share:
    """One role's part of an optimiser step; its loss is weight / divisor times the token sum."""

    items: Sequence[Item]
    weight: float
    divisor: float


@dataclass
class Tally:
    """Sums over trained tokens, for the metrics."""

    tokens: int = 0
    fed: int = 0
    """Positions that went through the model, padding included."""
    clipped: float = 0.0
    importance: float = 0.0
    kl_behaviour: float = 0.0
    loss: float = 0.0


class Learner:
    """A version's weights and optimiser state, changed by :meth:`step`, written by :meth:`save`."""

    def __init__(self, folder: Path, rates: dict[str, float], config: TrainConfig) -> None:
        self.config = config
        # Evaluation mode: dropout would make the trainer's log-probabilities differ from the
        # sampler's.
        self.model = load_model(folder).eval()
        self._trained = {
            name: value for name, value in self.model.named_parameters() if value.requires_grad
        }
        self._optimisers = {
            name: torch.optim.AdamW(
                self._trained.values(),
                lr=rate,
                betas=(config.beta1, config.beta2),
                weight_decay=config.weight_decay,
            )
            for name, rate in rates.items()
        }
        if (folder / OPTIMISER).exists():
            self._restore(folder / OPTIMISER)
        self._clipping = Clipping(config.clip_low, config.clip_high, config.importance_cap)
        self._headed = self._head_is_plain()

    @property
    def vocabulary(self) -> int:
        """Token ids that the model knows."""
        return int(self.model.get_input_embeddings().num_embeddings)

    def logprobs(self, samples: Sequence[Sample]) -> list[Tensor]:
        """Log-probabilities of the sampled tokens of each sample, without gradient."""
        out: dict[int, Tensor] = {}
        with torch.no_grad():
            for batch in micro_batches(samples, self.config.micro_tokens):
                logp_N = self._forward([samples[index] for index in batch])
                parts = torch.split(logp_N, [samples[index].tokens for index in batch])
                out.update(zip(batch, parts, strict=True))
        return [out[index] for index in range(len(samples))]

    def step(self, optimiser: str, shares: Sequence[Share]) -> tuple[list[Tally], float]:
        """Take one optimiser step on the sum of the shares' losses.

        Returns a tally per share and the gradient's norm before clipping. Samples whose gradient is
        zero are not computed; a step in which there is nothing else leaves the weights alone, since
        Adam would still move them by its momentum.
        """
        chosen = self._optimisers[optimiser]
        chosen.zero_grad(set_to_none=True)
        tallies = [self._accumulate(share) for share in shares]
        if not any(tally.tokens for tally in tallies):
            return tallies, 0.0
        norm = float(torch.nn.utils.clip_grad_norm_(self._trained.values(), self.config.grad_clip))
        if not math.isfinite(norm):
            raise ValueError(f"the gradient of the {optimiser} step is not finite")
        chosen.step()
        return tallies, norm

    def save(self, folder: Path) -> None:
        """Write weights, model configuration and optimiser state into a folder."""
        self.model.save_pretrained(folder)
        tensors: dict[str, Tensor] = {}
        for optimiser, chosen in self._optimisers.items():
            for name, value in self._trained.items():
                for field, tensor in chosen.state.get(value, {}).items():
                    tensors[f"{optimiser}/{name}/{field}"] = tensor
        save_file(tensors, folder / OPTIMISER)

    def _accumulate(self, share: Share) -> Tally:
        tally = Tally()
        live = [item for item in share.items if item.advantage != 0 or item.reference is not None]
        for batch in micro_batches([item.sample for item in live], self.config.micro_tokens):
            items = [live[index] for index in batch]
            logp_N = self._forward([item.sample for item in items])
            token_loss = self._loss(items, logp_N)
            loss = token_loss.loss.sum() * (share.weight / share.divisor)
            loss.backward()  # type: ignore[no-untyped-call]
            behaviour_N = _cat(recorded(item.sample) for item in items)
            tally.tokens += len(logp_N)
            tally.fed += len(items) * max(len(item.sample.ids) for item in items)
            tally.clipped += float(token_loss.clipped.sum())
            tally.importance += float(token_loss.weight.sum())
            tally.kl_behaviour += float((behaviour_N - logp_N.detach()).sum())
            tally.loss += float(loss.detach())
        return tally

    def _loss(self, items: Sequence[Item], logp_N: Tensor) -> TokenLoss:
        counts = [item.sample.tokens for item in items]
        now = torch.split(logp_N.detach(), counts)
        anchor_N = _cat(
            current if item.anchor is None else item.anchor
            for item, current in zip(items, now, strict=True)
        )
        references = [item.reference for item in items if item.reference is not None]
        return policy_loss(
            logp_N,
            anchor_N,
            _cat(recorded(item.sample) for item in items),
            torch.tensor([item.advantage for item in items]).repeat_interleave(
                torch.tensor(counts)
            ),
            clipping=self._clipping,
            kl=(self.config.kl, torch.cat(references)) if references else None,
        )

    def _forward(self, samples: Sequence[Sample]) -> Tensor:
        """Log-probabilities (N) of all sampled tokens, sample after sample."""
        width = max(len(sample.ids) for sample in samples)
        ids_B_T = torch.zeros(len(samples), width, dtype=torch.long)
        where: list[int] = []
        temperature: list[float] = []
        for row, sample in enumerate(samples):
            ids_B_T[row, : len(sample.ids)] = torch.tensor(sample.ids)
            # Position t is predicted at t - 1. Padding stands behind, where causal attention never
            # looks.
            where += [row * width + t - 1 for t, sampled in enumerate(sample.mask) if sampled]
            temperature += [sample.temperature] * sample.tokens
        before_N = torch.tensor(where)
        if self._headed:
            hidden = self.model.base_model(input_ids=ids_B_T, use_cache=False).last_hidden_state
            picked_N_D = hidden.flatten(0, 1).index_select(0, before_N)
            logits_N_V = self.model.get_output_embeddings()(picked_N_D)
        else:
            logits = self.model(input_ids=ids_B_T, use_cache=False).logits
            logits_N_V = logits.flatten(0, 1).index_select(0, before_N)
        return token_logprobs(
            logits_N_V, ids_B_T.flatten()[before_N + 1], torch.tensor(temperature)
        )

    def _head_is_plain(self) -> bool:
        """Whether logits are just the output embedding of the last hidden state.

        If so, only sampled positions go through the head. Some models scale or cap their logits.
        """
        probe = torch.tensor([[0, 1, 2]])
        head = self.model.get_output_embeddings()
        with torch.no_grad():
            whole = self.model(input_ids=probe, use_cache=False).logits
            hidden = self.model.base_model(input_ids=probe, use_cache=False).last_hidden_state
            return head is not None and bool(torch.equal(head(hidden), whole))

    def _restore(self, path: Path) -> None:
        try:
            tensors = load_file(path)
        except (SafetensorError, OSError) as error:
            raise BadInput(f"{path} is damaged ({error}); {MEND}") from None
        for optimiser, chosen in self._optimisers.items():
            state: dict[int, dict[str, Any]] = {}
            for index, name in enumerate(self._trained):
                prefix = f"{optimiser}/{name}/"
                found = {
                    key.removeprefix(prefix): tensor
                    for key, tensor in tensors.items()
                    if key.startswith(prefix)
                }
                if found:
                    state[index] = found
            groups = chosen.state_dict()["param_groups"]
            chosen.load_state_dict({"state": state, "param_groups": groups})


def micro_batches(samples: Sequence[Sample], most: int) -> list[list[int]]:
    """Indices of samples in batches of similar length within ``most`` padded positions.

    A sample longer than that gets a batch of its own.
    """
    order = sorted(range(len(samples)), key=lambda index: (len(samples[index].ids), index))
    batches: list[list[int]] = []
    for index in order:
        width = len(samples[index].ids)
        if not batches or width * (len(batches[-1]) + 1) > most:
            batches.append([])
        batches[-1].append(index)
    return batches


def recorded(sample: Sample) -> Tensor:
    """The log-probabilities recorded when the sample was drawn (N)."""
    return torch.tensor(
        [logp for logp, sampled in zip(sample.logprobs, sample.mask, strict=True) if sampled]
    )


def _cat(parts: Iterator[Tensor]) -> Tensor:
    return torch.cat(list(parts))
