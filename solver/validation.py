"""What a policy version must be before it is published: whole, and the same model as its parent.

Once a version is there, engines and servers switch to it without asking anybody, so a trainer's mistake
has to be found here: a shard of the weights that was not written, a tensor of another shape, weights that
are not numbers any more, a configuration or a tokenizer by which the ids would mean something else.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from solver.weights import FROM_DISK, WEIGHTS, weight_files
from spadekit.errors import BadInput

INDEX = "model.safetensors.index.json"
UNTOLD = frozenset(
    {"dtype", "torch_dtype", "transformers_version", "_name_or_path", "use_cache", "architectures"}
)
"""Keys of a configuration that do not say which model it is."""
TIED = "lm_head.weight"
TOKENIZER = ("tokenizer.json", "tokenizer.model", "vocab.json", "merges.txt", "added_tokens.json")
TEXT = "The lock at 42 opens: def step(self, action):\n    return \\boxed{left} \u00e9\u2192\n"
"""What two tokenizers are compared on, beside their vocabularies."""

Shapes = dict[str, tuple[int, ...]]


def check_successor(folder: Path, parent: Path) -> None:
    """Refuse a folder that cannot follow ``parent`` as a policy version; ``BadInput`` says why."""
    check_weights(folder)
    odd = odd_weight(folder, parent)
    if odd:
        raise BadInput(f"{folder}: the weights are not those of its parent's model: {odd}")
    _check_finite(folder)
    key = differing(configuration(folder), configuration(parent))
    if key:
        raise BadInput(f"{folder}: its config.json has another `{key}` than in {parent.name}")
    _check_tokens(folder, parent)


def check_weights(folder: Path) -> Shapes:
    """Return names and shapes of a folder's weights; ``BadInput`` when they are not all there.

    Each file's header must account for its size to the byte; with an index every file it names must
    be there and hold just the tensors it says.
    """
    by_file = {path.name: _header(path) for path in weight_files(folder)}
    found = {name: path for path, header in by_file.items() for name in header}
    if not (folder / INDEX).exists():
        if list(by_file) != [WEIGHTS]:
            names = ", ".join(by_file) or "no weights"
            raise BadInput(f"{folder} holds {names}: either {WEIGHTS}, or {INDEX} beside its parts")
    else:
        try:
            wanted = dict(json_of(folder / INDEX)["weight_map"])
        except (KeyError, TypeError, ValueError):
            raise BadInput(f"{folder / INDEX} is no index of weights") from None
        for name in sorted(wanted.keys() | found.keys()):
            if wanted.get(name) != found.get(name):
                raise BadInput(
                    f"{folder}: {name} is to be in {wanted.get(name, 'no file')} by {INDEX} and is "
                    f"in {found.get(name, 'no file')}"
                )
    return {name: shape for header in by_file.values() for name, shape in header.items()}


def odd_weight(folder: Path, other: Path) -> str:
    """Say which weight differs in name or shape between two folders, "" when none does.

    A model that came from elsewhere may name its tied output layer, which is saved but once here.
    """
    mine, theirs = shapes(folder), shapes(other)
    tied = {TIED} if json_of(folder / "config.json").get("tie_word_embeddings") else set()
    odd = min({name for name, _ in mine.items() ^ theirs.items()} - tied, default="")
    if not odd:
        return ""
    return f"{odd} has shape {mine.get(odd, 'none')}, in {other.name} {theirs.get(odd, 'none')}"


def shapes(folder: Path) -> Shapes:
    """Return names and shapes of whatever weights a folder has; ``BadInput`` when there are none."""
    paths = weight_files(folder)
    if not paths:
        raise BadInput(f"{folder / WEIGHTS} is missing")
    return {name: shape for path in paths for name, shape in _header(path).items()}


def configuration(folder: Path) -> dict[str, Any]:
    """Return a model's configuration as this library understands it, without what does not matter.

    Read and not compared as text: a file that was saved again has other words for the same model.
    """
    from transformers import AutoConfig

    try:
        told = AutoConfig.from_pretrained(folder, **FROM_DISK).to_dict()
    except Exception as error:  # whatever the damaged part made it raise
        raise BadInput(f"{folder / 'config.json'} cannot be read: {error}") from None
    return {key: value for key, value in told.items() if key not in UNTOLD}


def stop_ids(folder: Path) -> list[int]:
    """Return the ids that end a reply by the model's own configuration, as the local engine finds them."""
    from transformers import GenerationConfig

    for name in ("generation_config.json", "config.json"):
        if (folder / name).is_file():
            try:
                stop = GenerationConfig.from_pretrained(folder, name, local_files_only=True)
            except Exception as error:  # whatever the damaged part made it raise
                raise BadInput(f"{folder / name} cannot be read: {error}") from None
            told = stop.eos_token_id
            ids = told if isinstance(told, list) else [] if told is None else [told]
            if not all(type(one) is int for one in ids):
                raise BadInput(
                    f"{folder / name}: eos_token_id is {told!r}, not an id or a list of ids"
                )
            return ids
    return []


def read_tokenizer(folder: Path) -> Any:
    """Read a model folder's tokenizer; ``BadInput`` when it cannot be."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(folder, **FROM_DISK)
    except Exception as error:  # tokenizers raise whatever their format code raises
        raise BadInput(f"{folder}: the tokenizer cannot be read: {error}") from None


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return the first key under which two configurations differ, "" when none does."""
    return min((key for key in one.keys() | other if one.get(key) != other.get(key)), default="")


def json_of(path: Path) -> dict[str, Any]:
    """Read a JSON object; ``BadInput`` for anything else."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise BadInput(f"{path} is no JSON object")
    return value


def _header(path: Path) -> Shapes:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise BadInput(f"{path} is damaged ({error})") from None


def _check_finite(folder: Path) -> None:
    import torch
    from safetensors import safe_open

    for path in weight_files(folder):
        with safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118 - it is no mapping
                if not bool(torch.isfinite(file.get_tensor(name)).all()):
                    raise BadInput(f"{path}: {name} holds values that are not finite")


def _check_tokens(folder: Path, parent: Path) -> None:
    """Refuse ids that mean something else, or a conversation that is written or ends otherwise."""
    if stop_ids(folder) != stop_ids(parent):
        raise BadInput(f"{folder}: replies end with other token ids than in {parent.name}")
    names = {
        entry.name
        for where in (folder, parent)
        for entry in where.iterdir()
        if entry.name in TOKENIZER or entry.name.startswith(("tokenizer", "special", "chat_templ"))
    }
    if all(_bytes(folder / name) == _bytes(parent / name) for name in names):
        return
    mine, before = read_tokenizer(folder), read_tokenizer(parent)
    for what, same in (
        ("vocabulary", mine.get_vocab() == before.get_vocab()),
        ("special tokens", mine.special_tokens_map == before.special_tokens_map),
        ("chat template", mine.chat_template == before.chat_template),
        ("way of cutting text up", mine.encode(TEXT) == before.encode(TEXT)),
    ):
        if not same:
            raise BadInput(f"{folder}: its tokenizer has another {what} than in {parent.name}")


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
