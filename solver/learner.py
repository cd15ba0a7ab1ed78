"""The weights being trained: log-probabilities, gradients, and one Adam state per optimiser.

Axis letters: B sequences of a micro-batch, T positions, N sampled tokens of all its sequences one after
another, D hidden size, V vocabulary.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from solver.config import PolicyConfig, TrainConfig
from solver.device import computing, require
from solver.loss import Clipping, TokenLoss, policy_loss, token_logprobs
from solver.samples import Sample
from solver.versions import OPTIMISER
from solver.weights import MEND, load_model
from spadekit.errors import BadInput
from spadekit.seeds import derive

LOGITS = 2**22
"""Most logits (sampled tokens x vocabulary) made at a time: 16 MB in float32."""
ADAPTER = "adapter"


@dataclass
class Item:
    """A sample on its way into an update. Tensors with N run over its sampled tokens."""

    sample: Sample
    advantage: float
    anchor_N: Tensor | None = None
    """Log-probabilities under the policy that the ratio is clipped to (see ``solver.trainer``); None:
    those computed in the step itself."""
    reference_N: Tensor | None = None
    """Log-probabilities under the policy that the KL term pulls towards; None: no such term."""
    ids_T: Tensor = field(init=False)
    places_N: Tensor = field(init=False)
    """Positions of the sampled tokens."""
    behaviour_N: Tensor = field(init=False)
    """The log-probabilities recorded when they were sampled."""

    def __post_init__(self) -> None:
        self.ids_T = torch.tensor(self.sample.ids)
        self.places_N = torch.tensor(self.sample.mask).nonzero()[:, 0]
        self.behaviour_N = torch.tensor(self.sample.logprobs)[self.places_N]


@dataclass(frozen=True)
class Share:
    """One role's part of an optimiser step; its loss is weight / divisor times the token sum."""

    items: Sequence[Item]
    weight: float
    divisor: float


@dataclass
class Tally:
    """Sums over one optimiser step, for the metrics.

    ``positions`` and ``loss`` are of all samples that went through the model, the others of the tokens
    with an advantage alone: a KL term trains samples without one too, which clipping never touches.
    """

    positions: int = 0
    """Prompts and padding included."""
    loss: float = 0.0
    tokens: int = 0
    importance: float = 0.0
    importance_cut: float = 0.0
    clip_low: float = 0.0
    clip_high: float = 0.0
    kl_behaviour: float = 0.0
    entropy: float = 0.0


class Learner:
    """A version's weights and optimiser state, changed by :meth:`step`, written by :meth:`save`.

    ``folder``: the version; ``rates``: learning rate of each optimiser by name; ``base``: version 0,
    whose weights an adapter is added to; ``policy``: what forward passes run on and compute in. Raises
    ``BadInput`` for what cannot be loaded, and for a version whose state is of another kind: another
    adapter, other optimisers.
    """

    def __init__(
        self,
        folder: Path,
        rates: dict[str, float],
        config: TrainConfig,
        *,
        base: Path | None = None,
        policy: PolicyConfig | None = None,
    ) -> None:
        self.policy = policy = policy or PolicyConfig()
        require(policy)
        self.config = config
        self._base = (base or folder) if config.lora_rank else None
        self._device = policy.device
        # Evaluation mode: dropout would make the trainer's log-probabilities differ from the
        # sampler's.
        self.model = load_model(self._base or folder).eval()
        if config.lora_rank:
            from solver import adapter

            seed = derive(config.seed, "adapter")
            adapter.add(self.model, config.lora_rank, config.lora_alpha, seed)
        self.model.to(self._device)
        self._trained = {
            name: value for name, value in self.model.named_parameters() if value.requires_grad
        }
        self._optimisers = {
            name: torch.optim.AdamW(
                self._trained.values(),
                lr=rate,
                betas=(config.beta1, config.beta2),
                weight_decay=config.weight_decay,
                fused=True,
            )
            for name, rate in rates.items()
        }
        looked_at = not rates and self._base is None
        if (folder / OPTIMISER).exists() and not looked_at:
            self._restore(folder / OPTIMISER)
        elif self._base not in (None, folder):
            raise BadInput(f"{folder / OPTIMISER} is missing; {MEND}")
        self._clipping = Clipping(config.clip_low, config.clip_high, config.importance_cap)
        self._head = self._plain_head()

    @property
    def vocabulary(self) -> int:
        """Token ids that the model knows."""
        return int(self.model.get_input_embeddings().num_embeddings)

    def other(self, folder: Path) -> "Learner":
        """Another version's weights on the same device, whole, to be looked at."""
        config = replace(self.config, lora_rank=0)
        return Learner(folder, {}, config, policy=self.policy)

    def logprobs(self, samples: Sequence[Sample]) -> list[Tensor]:
        """Log-probabilities (N) of the sampled tokens of each sample, without gradient."""
        items = [Item(sample, 0.0) for sample in samples]
        out: dict[int, Tensor] = {}
        with torch.no_grad():
            for batch in micro_batches(samples, self.config.micro_tokens):
                fed = _Fed.of([items[index] for index in batch], self._device)
                states = self._states(fed)
                logp_N = torch.cat(
                    [self._logprobs(states[part], fed, part)[0] for part in self._parts(fed)]
                )
                counts = [samples[index].tokens for index in batch]
                out.update(zip(batch, torch.split(logp_N.cpu(), counts), strict=True))
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
        if not any(tally.positions for tally in tallies):
            return tallies, 0.0
        norm = float(torch.nn.utils.clip_grad_norm_(self._trained.values(), self.config.grad_clip))
        if not math.isfinite(norm):
            raise ValueError(f"the gradient of the {optimiser} step is not finite")
        chosen.step()
        return tallies, norm

    def save(self, folder: Path) -> None:
        """Write weights, model configuration and the trainer's own state into a folder."""
        if self._base is None:
            whole = self.model
        else:
            from solver import adapter

            whole = adapter.merged(self.model, self._base)
        whole.save_pretrained(folder)
        tensors: dict[str, Tensor] = {}
        if self._base is not None:
            tensors |= {f"{ADAPTER}/{name}": value for name, value in self._trained.items()}
        for optimiser, chosen in self._optimisers.items():
            for name, value in self._trained.items():
                for part, tensor in chosen.state.get(value, {}).items():
                    tensors[f"{optimiser}/{name}/{part}"] = tensor
        save_file(tensors, folder / OPTIMISER, metadata={"trained": self._trained_as()})

    def _accumulate(self, share: Share) -> Tally:
        """Add the gradient of a share's loss to the weights'."""
        tally = Tally()
        live = [item for item in share.items if item.advantage or item.reference_N is not None]
        scale = share.weight / share.divisor
        for batch in micro_batches([item.sample for item in live], self.config.micro_tokens):
            fed = _Fed.of([live[index] for index in batch], self._device)
            states = self._states(fed)
            # The loss is a sum over tokens, so logits are made, used and dropped a part at a time;
            # the gradients of all parts go through the model once.
            grads: list[Tensor] = []
            for part in self._parts(fed):
                cut = states[part].detach().requires_grad_()
                logp_N, entropy_N = self._logprobs(cut, fed, part)
                token = self._loss(logp_N, fed, part)
                loss = token.loss.sum() * scale
                loss.backward()  # type: ignore[no-untyped-call]
                assert cut.grad is not None
                grads.append(cut.grad)
                apart_N = fed.behaviour_N[part] - logp_N.detach()
                _count(tally, token, entropy_N, apart_N, fed.advantage_N[part] != 0, loss)
            states.backward(torch.cat(grads))  # type: ignore[no-untyped-call]
            tally.positions += fed.ids_B_T.numel()
        return tally

    def _states(self, fed: "_Fed") -> Tensor:
        """What predicts the sampled tokens: hidden states (N, D), or logits (N, V) where the head is
        more than a linear layer."""
        with computing(self.policy):
            if self._head is not None:
                out = self.model.base_model(input_ids=fed.ids_B_T, use_cache=False)
                found: Tensor = out.last_hidden_state
            else:
                found = self.model(input_ids=fed.ids_B_T, use_cache=False).logits
        return found.flatten(0, 1).index_select(0, fed.before_N)

    def _logprobs(self, states: Tensor, fed: "_Fed", part: slice) -> tuple[Tensor, Tensor]:
        with computing(self.policy):
            logits_N_V = states if self._head is None else self._head(states)
        return token_logprobs(logits_N_V, fed.sampled_N[part], fed.temperature_N[part])

    def _loss(self, logp_N: Tensor, fed: "_Fed", part: slice) -> TokenLoss:
        noted_N = fed.anchor_N[part]
        return policy_loss(
            logp_N,
            torch.where(noted_N.isnan(), logp_N.detach(), noted_N),
            fed.behaviour_N[part],
            fed.advantage_N[part],
            clipping=self._clipping,
            kl=None if fed.reference_N is None else (self.config.kl, fed.reference_N[part]),
        )

    def _parts(self, fed: "_Fed") -> list[slice]:
        """Slices of the sampled tokens whose logits are made together."""
        size = max(1, LOGITS // self.vocabulary)
        return [slice(start, start + size) for start in range(0, len(fed.sampled_N), size)]

    def _plain_head(self) -> Any:
        """The output layer where logits are just it on the last hidden state, else None.

        If so, only sampled positions go through it. Some models scale or cap their logits.
        """
        probe = torch.tensor([[0, 1, 2]], device=self._device)
        head = self.model.get_output_embeddings()
        with torch.no_grad():
            logits = self.model(input_ids=probe, use_cache=False).logits
            out = self.model.base_model(input_ids=probe, use_cache=False)
            hidden = getattr(out, "last_hidden_state", None)
            plain = head is not None and hidden is not None and torch.equal(head(hidden), logits)
        return head if plain else None

    def _trained_as(self) -> str:
        """What is trained and by which optimisers, in words that name the settings."""
        config = self.config
        alpha = f", train.lora_alpha = {config.lora_alpha}" if config.lora_rank else ""
        return (
            f'train.optimiser = "{config.optimiser}", train.lora_rank = {config.lora_rank}{alpha}'
        )

    def _restore(self, path: Path) -> None:
        """Take over the trainer's state of a version."""
        try:
            with safe_open(path, framework="pt", device=self._device) as file:
                before = (file.metadata() or {}).get("trained", "unknown settings")
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError) as error:
            raise BadInput(f"{path} is damaged ({error}); {MEND}") from None
        if before != self._trained_as():
            raise BadInput(
                f"{path.parent} was trained with {before} and cannot go on with "
                f"{self._trained_as()}: set it back, or use another --home"
            )
        if self._base is not None:
            with torch.no_grad():
                for name, value in self._trained.items():
                    value.copy_(tensors[f"{ADAPTER}/{name}"])
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


@dataclass(frozen=True)
class _Fed:
    """The items of a micro-batch as tensors; N runs over the sampled tokens of all of them."""

    ids_B_T: Tensor
    before_N: Tensor
    """Where a token is predicted: the position before it, in the flattened B and T."""
    sampled_N: Tensor
    temperature_N: Tensor
    advantage_N: Tensor
    behaviour_N: Tensor
    anchor_N: Tensor
    """nan where an item has none."""
    reference_N: Tensor | None

    @classmethod
    def of(cls, items: Sequence[Item], device: str) -> "_Fed":
        width = max(len(item.ids_T) for item in items)
        # Padding stands behind, where causal attention never looks.
        ids_B_T = torch.zeros(len(items), width, dtype=torch.long)
        for row, item in enumerate(items):
            ids_B_T[row, : len(item.ids_T)] = item.ids_T
        places_N = torch.cat([row * width + item.places_N for row, item in enumerate(items)])
        counts_B = torch.tensor([len(item.places_N) for item in items])

        def per_token(values: Iterable[float]) -> Tensor:
            values_B = torch.tensor(list(values), dtype=torch.float32)
            return values_B.repeat_interleave(counts_B).to(device)

        anchors = [
            torch.full_like(item.behaviour_N, math.nan) if item.anchor_N is None else item.anchor_N
            for item in items
        ]
        references = [item.reference_N for item in items if item.reference_N is not None]
        return cls(
            ids_B_T.to(device),
            (places_N - 1).to(device),
            ids_B_T.flatten()[places_N].to(device),
            per_token(item.sample.temperature for item in items),
            per_token(item.advantage for item in items),
            torch.cat([item.behaviour_N for item in items]).to(device),
            torch.cat(anchors).to(device),
            torch.cat(references).to(device) if references else None,
        )


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


def _count(
    tally: Tally,
    token: TokenLoss,
    entropy_N: Tensor,
    apart_N: Tensor,
    live_N: Tensor,
    loss: Tensor,
) -> None:
    """Add a part's sums; one transfer from the device for all of them."""
    per_token = (live_N, token.weight, token.capped, token.low, token.high, apart_N, entropy_N)
    of_live = ((values * live_N).sum().float() for values in per_token)
    sums = torch.stack([loss.detach(), *of_live]).tolist()
    tally.loss += sums[0]
    tally.tokens += int(sums[1])
    tally.importance += sums[2]
    tally.importance_cut += sums[3]
    tally.clip_low += sums[4]
    tally.clip_high += sums[5]
    tally.kl_behaviour += sums[6]
    tally.entropy += sums[7]
