"""The warm-up: an adapter (LoRA) learns the forms in which this project designs and plays.

Computed in float32: a processor without bfloat16 arithmetic of its own is fifty times slower in it. What
each step learns depends on the seed and its number alone, and the learning rate on the share of the
steps that are done, so a run that was killed goes on from its last save and ends as it would have.

Axis letters: B conversations of a micro-batch, T positions, N counted tokens, H hidden size, V vocabulary.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from solver import adapter
from solver.chat import Chat
from solver.smollm2 import lessons
from solver.smollm2.lessons import Row
from solver.validation import read_tokenizer, stop_ids
from solver.weights import load_model, read_weights
from spadekit.errors import BadInput
from spadekit.files import write_atomic
from spadekit.seeds import derive

STATE = "state.safetensors"
FACTS = "facts"
ROLES = ("designer", "solver")


@dataclass(frozen=True)
class Recipe:
    """What a warm-up is to be. With other values for what comes before ``steps`` it is another one."""

    seed: int = 0
    rank: int = 16
    """4.9 of 134.5 million numbers are trained: 9.8 MB in bfloat16."""
    alpha: int = 32
    rate: float = 1e-3
    """Peak of the learning rate; it falls linearly."""
    designs: int = 2
    plays: int = 2
    """Conversations of a step. A design is 330 tokens long, a play 80."""
    rise: int = 10
    """Steps in which the rate rises."""
    steps: int = field(default=320, compare=False)
    threads: int = field(default=2, compare=False)
    micro_tokens: int = field(default=512, compare=False)
    """Most padded positions of one pass; a longer conversation goes alone."""
    save_s: float = field(default=60.0, compare=False)

    def identity(self) -> dict[str, Any]:
        """What has to be the same for a run to go on."""
        names = ("seed", "rank", "alpha", "rate", "designs", "plays", "rise")
        return {name: getattr(self, name) for name in names}


@dataclass
class Facts:
    """Where a warm-up stands; kept with its weights."""

    step: int = 0
    tokens: int = 0
    """Positions that went through the model."""
    spent_s: float = 0.0
    loss: dict[str, float] = field(default_factory=dict)
    """Nats a counted token by role, as a running mean."""


Told = Callable[[Facts], None]


def warm_up(plain: Path, work: Path, recipe: Recipe, told: Told) -> Path:
    """Train until ``recipe.steps`` steps are done; return the adapter's file in ``work``.

    ``told`` hears of every step. Raises ``BadInput`` for a work folder of another warm-up.
    """
    run = _Run(plain, work / STATE, recipe)
    run.restore()
    torch.set_num_threads(recipe.threads)
    began = time.monotonic() - run.facts.spent_s
    saved = time.monotonic()
    while run.facts.step < recipe.steps:
        run.step()
        run.facts.spent_s = time.monotonic() - began
        told(run.facts)
        if time.monotonic() - saved > recipe.save_s:
            run.save()
            saved = time.monotonic()
    run.save()
    return run.export(work / "adapter.safetensors")


def chat_of(folder: Path) -> Chat:
    """Open a folder's tokenizer with the template that the policy gets."""
    tokenizer = read_tokenizer(folder)
    tokenizer.chat_template = lessons.TEMPLATE
    return Chat(tokenizer, stop_ids(folder))


class _Run:
    """The model, its adapter, Adam's state, and how far they are."""

    def __init__(self, plain: Path, state: Path, recipe: Recipe) -> None:
        self.recipe, self.facts = recipe, Facts()
        self._state = state
        self._base = base_digest(plain)
        self._lessons = lessons.digest(recipe.seed, recipe.designs, recipe.plays)
        self.chat = chat_of(plain)
        self.model = load_model(plain).eval()  # without dropout, as everywhere
        adapter.add(self.model, recipe.rank, recipe.alpha, derive(recipe.seed, "adapter"))
        self.trained = trained(self.model)
        self.adam = torch.optim.AdamW(
            self.trained.values(), lr=recipe.rate, betas=(0.9, 0.98), weight_decay=0.0
        )

    def step(self) -> None:
        """Learn the next lesson."""
        recipe, facts = self.recipe, self.facts
        talks = lessons.lesson(recipe.seed, facts.step, recipe.designs, recipe.plays)
        rows = [lessons.encode(self.chat, talk) for talk in talks]
        counted = sum(sum(mask) for _, mask in rows)
        for role, part in zip(ROLES, (rows[: recipe.designs], rows[recipe.designs :]), strict=True):
            self._accumulate(role, part, counted)
        torch.nn.utils.clip_grad_norm_(self.trained.values(), 1.0)
        for group in self.adam.param_groups:
            group["lr"] = rate_at(recipe, facts.step)
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)
        facts.step += 1

    def _accumulate(self, role: str, rows: list[Row], counted: int) -> None:
        """Add the gradient of a role's conversations; the loss is the mean over the whole step."""
        total = 0.0
        for batch in packed(rows, self.recipe.micro_tokens):
            loss, positions = loss_of(self.model, batch)
            (loss / counted).backward()  # type: ignore[no-untyped-call]
            total += loss.item()
            self.facts.tokens += positions
        if tokens := sum(sum(mask) for _, mask in rows):
            before = self.facts.loss.get(role, total / tokens)
            self.facts.loss[role] = 0.9 * before + 0.1 * total / tokens

    def save(self) -> None:
        """Write all that it takes to go on."""
        tensors = {f"adapter/{name}": value.detach() for name, value in self.trained.items()}
        for name, value in self.trained.items():
            for part, tensor in self.adam.state.get(value, {}).items():
                tensors[f"adam/{name}/{part}"] = tensor
        told = {"of": self._identity(), **asdict(self.facts)}
        write_atomic(self._state, save(tensors, {FACTS: json.dumps(told)}))

    def restore(self) -> None:
        """Go on from the last save, if there is one."""
        if not self._state.exists():
            return
        told, tensors = read(self._state)
        if told.pop("of", None) != self._identity():
            raise BadInput(
                f"{self._state} is of another warm-up (seed, lessons or model); give the --seed it was "
                "begun with, or remove it"
            )
        self.facts = Facts(**told)
        fill(self.trained, tensors, self._state)
        state = {
            number: {
                part: tensors[f"adam/{name}/{part}"] for part in ("step", "exp_avg", "exp_avg_sq")
            }
            for number, name in enumerate(self.trained)
        }
        groups = self.adam.state_dict()["param_groups"]
        self.adam.load_state_dict({"state": state, "param_groups": groups})

    def export(self, path: Path) -> Path:
        """Write the adapter alone, in bfloat16, and what it was made of."""
        tensors = {
            f"adapter/{name}": value.detach().to(torch.bfloat16)
            for name, value in self.trained.items()
        }
        told = {"of": self._identity(), **asdict(self.facts)}
        write_atomic(path, save(tensors, {FACTS: json.dumps(told)}))
        return path

    def _identity(self) -> dict[str, Any]:
        return {"base": self._base, "lessons": self._lessons, **self.recipe.identity()}


def base_digest(plain: Path) -> str:
    """Return a digest of a model's weights that does not depend on how their file is laid out."""
    whole = hashlib.sha256()
    for name, value in sorted(read_weights(plain).items()):
        whole.update(f"{name} {value.dtype} {tuple(value.shape)}\n".encode())
        whole.update(value.contiguous().view(torch.uint8).numpy())
    return whole.hexdigest()


def rate_at(recipe: Recipe, step: int) -> float:
    """The learning rate of a step (from 0): up in ``rise`` steps, then down to a fiftieth."""
    rise = min(1.0, (step + 1) / recipe.rise)
    return recipe.rate * rise * (1 - 0.98 * step / recipe.steps)


def packed(rows: list[Row], most: int) -> list[list[Row]]:
    """Batches of rows of similar length within ``most`` padded positions; a longer row goes alone."""
    batches: list[list[Row]] = []
    for row in sorted(rows, key=lambda row: len(row[0])):
        if not batches or len(row[0]) * (len(batches[-1]) + 1) > most:
            batches.append([])
        batches[-1].append(row)
    return batches


def loss_of(model: Any, rows: list[Row]) -> tuple[Tensor, int]:
    """Return the summed loss (nats) of the counted tokens, and the padded positions."""
    width = max(len(ids) for ids, _ in rows)
    ids_B_T = torch.zeros(len(rows), width, dtype=torch.long)
    counted_B_T = torch.zeros(len(rows), width, dtype=torch.bool)
    for row, (ids, mask) in enumerate(rows):
        ids_B_T[row, : len(ids)] = torch.tensor(ids)
        counted_B_T[row, : len(ids)] = torch.tensor(mask, dtype=torch.bool)
    # Padding stands behind, where causal attention never looks.
    hidden_B_T_H = model.base_model(input_ids=ids_B_T, use_cache=False).last_hidden_state
    before = counted_B_T[:, 1:]
    logits_N_V = model.get_output_embeddings()(hidden_B_T_H[:, :-1][before])
    loss = torch.nn.functional.cross_entropy(logits_N_V, ids_B_T[:, 1:][before], reduction="sum")
    return loss, ids_B_T.numel()


def trained(model: Any) -> dict[str, Tensor]:
    """The adapter's weights by name."""
    return {name: value for name, value in model.named_parameters() if value.requires_grad}


def read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read the facts and the tensors of a state or an adapter. Raises ``BadInput`` for anything else."""
    try:
        with safe_open(path, framework="pt") as file:
            told = json.loads((file.metadata() or {})[FACTS])
            return told, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise BadInput(f"{path} is no adapter, or damaged ({error!r}); remove it") from None


def fill(weights: Mapping[str, Tensor], tensors: Mapping[str, Tensor], path: Path) -> None:
    """Copy an adapter's tensors into a model's adapter; ``BadInput`` when they are not its."""
    for name, value in weights.items():
        found = tensors.get(f"adapter/{name}")
        if found is None or found.shape != value.shape:
            raise BadInput(
                f"{path} is no adapter of this model: {name} is missing or of another shape"
            )
        with torch.no_grad():
            value.copy_(found)
