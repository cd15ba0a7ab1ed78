"""A model folder for a vLLM server on a CPU: the same model with an output layer of its own.

Where the embeddings are tied, such a server (seen in 0.32) packs the output layer once, at its start,
and a later switch of weights leaves it as it was. Untied it is loaded like any other layer:

    python -m solver.engines.untied MODEL OUT

On a GPU the model is served as it is.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from safetensors.torch import save_file

from solver.manifest import SHIPPED
from solver.weights import read_weights, weight_files
from spadekit.errors import BadInput
from spadekit.files import folder_atomic, write_json

HEAD = "lm_head.safetensors"


def untie(model: Path, out: Path) -> None:
    """Write ``out``: the files of ``model``, its output layer beside them, its configuration untied.

    Weights are hard links where the file system has them. Raises ``BadInput`` for a folder that is no
    model with tied embeddings.
    """
    weights = read_weights(model)
    name = next((name for name in weights if name.endswith("embed_tokens.weight")), None)
    if name is None or "lm_head.weight" in weights:
        raise BadInput(f"{model} has no tied embeddings; serve it as it is")
    with folder_atomic(out) as folder:
        for path in sorted(model.iterdir()):
            if path in weight_files(model):
                _link(path, folder / path.name)
            elif (
                path.suffix in (".json", ".jinja", ".txt", ".model") and path.name != "policy.json"
            ):
                shutil.copyfile(path, folder / path.name)
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        write_json(folder / "config.json", config | {"tie_word_embeddings": False})
        save_file({"lm_head.weight": weights[name]}, folder / HEAD, metadata={"format": "pt"})
        (folder / HEAD).chmod(0o644)  # made private; a server may run as somebody else


def is_tied(folder: Path) -> bool:
    """Whether a folder's configuration ties the output layer to the embeddings."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return bool(config.get("tie_word_embeddings"))


def _link(path: Path, target: Path) -> None:
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)


if __name__ == "__main__":
    try:
        untie(SHIPPED if sys.argv[1] == "embedded" else Path(sys.argv[1]), Path(sys.argv[2]))
    except IndexError:
        sys.exit("usage: python -m solver.engines.untied MODEL OUT")
    except (BadInput, OSError) as error:
        sys.exit(f"error: {error}")
