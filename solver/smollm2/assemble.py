"""Plain model and adapter become the policy's folder."""

import shutil
from pathlib import Path
from typing import Any

from solver import manifest
from solver.smollm2 import lessons, warmup
from solver.versions import file_digest
from solver.weights import WEIGHTS, load_model
from spadekit.errors import BadInput
from spadekit.files import folder_atomic

TEMPLATE_FILE = "chat_template.jinja"
SHIPPED = Path(__file__).parent / "adapter.safetensors"
"""The adapter of a warm-up with the values of ``warmup.Recipe``."""


def assemble(plain: Path, adapter_file: Path, out: Path) -> dict[str, Any]:
    """Write the policy to the new folder ``out`` and return the facts of its warm-up.

    Weights are those of ``plain`` plus what the adapter adds, in bfloat16. Raises ``BadInput`` for an
    adapter of another model and for a folder that cannot be written.
    """
    import torch

    from solver import adapter

    told, tensors = warmup.read(adapter_file)
    made_of = told.pop("of", {})
    if made_of.get("base") != warmup.base_digest(plain):
        raise BadInput(f"{adapter_file} was trained on other weights than those in {plain}")
    model = load_model(plain)
    adapter.add(model, made_of["rank"], made_of["alpha"], seed=0)
    warmup.fill(warmup.trained(model), tensors, adapter_file)
    whole = adapter.merged(model, plain).to(torch.bfloat16)
    facts = {**made_of, **told, "adapter": file_digest(adapter_file)}
    try:
        with folder_atomic(out) as folder:
            for entry in sorted(plain.iterdir()):
                if entry.name not in (WEIGHTS, TEMPLATE_FILE, manifest.NAME):
                    shutil.copyfile(entry, folder / entry.name)
            (folder / TEMPLATE_FILE).write_text(lessons.TEMPLATE, encoding="utf-8")
            whole.save_pretrained(folder)
            (folder / WEIGHTS).chmod(0o644)
            manifest.write(folder, facts)
    except OSError as error:
        raise BadInput(f"{out} cannot be written: {error}") from None
    return facts
