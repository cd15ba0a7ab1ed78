"""The weights of a model folder: found, read, loaded into a new model or copied into a running one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spadekit.errors import BadInput

WEIGHTS = "model.safetensors"
FROM_DISK = {"local_files_only": True, "trust_remote_code": False}
"""How everything of a model folder is read: left open, the latter asks whoever sits there whether the
folder's own Python is to be run."""
MEND = "remove the folder to train that version again, or restore it from a copy"


def load_model(folder: Path) -> Any:
    """Load a causal language model in float32 from a folder.

    Raises ``BadInput`` when it cannot be, or when the files lack weights that its configuration asks
    for: transformers would make them up.
    """
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging as transformers_logging

    _check_headers(folder)
    model: Any
    found: dict[str, Any]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        model, found = AutoModelForCausalLM.from_pretrained(  # type: ignore[misc]
            folder,
            dtype=torch.float32,
            output_loading_info=True,
            **FROM_DISK,
        )
    except Exception as error:  # from_pretrained raises whatever the damaged part made it raise
        raise BadInput(f"{folder}: the model cannot be loaded: {error}") from None
    if missing := sorted(found["missing_keys"]):
        raise BadInput(
            f"{folder}: its files have no {missing[0]} ({len(missing)} weights that config.json asks "
            f"for are missing); {MEND}"
        )
    return model


def _check_headers(folder: Path) -> None:
    """Name the file that is missing or was cut short, without reading its tensors."""
    from safetensors import SafetensorError, safe_open

    paths = weight_files(folder)
    if not paths:
        raise BadInput(f"{folder / WEIGHTS} is missing; {MEND}")
    for path in paths:
        try:
            with safe_open(path, framework="pt"):
                pass
        except (SafetensorError, OSError) as error:
            raise BadInput(f"{path} is damaged ({error}); {MEND}") from None


def read_weights(folder: Path) -> dict[str, Any]:
    """Read a folder's safetensors files into one name -> tensor mapping."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    paths = weight_files(folder)
    if not paths:
        raise BadInput(f"{folder / WEIGHTS} is missing; {MEND}")
    weights: dict[str, Any] = {}
    for path in paths:
        try:
            weights.update(load_file(path))
        except (SafetensorError, OSError) as error:
            raise BadInput(f"{path} is damaged ({error}); {MEND}") from None
    return weights


def weight_files(folder: Path) -> list[Path]:
    """The files of a folder that hold the model's weights."""
    return sorted(folder.glob("model*.safetensors"))


def copy_weights(folder: Path, weights: Mapping[str, Any], model: Any) -> None:
    """Copy the weights read from a folder into a model of the same shape; all fit or none is copied."""
    import torch

    state = model.state_dict()
    filled = {state[name].data_ptr() for name in weights if name in state}
    missing = [name for name, value in state.items() if value.data_ptr() not in filled]
    wrong = [
        name
        for name, value in weights.items()
        if name not in state or state[name].shape != value.shape
    ]
    if missing or wrong:
        raise BadInput(
            f"{folder}: its weights are not those of the running model "
            f"(first difference: {(wrong or missing)[0]}); {MEND}"
        )
    with torch.no_grad():
        for name, value in weights.items():
            state[name].copy_(value)
