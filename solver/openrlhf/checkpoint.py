"""The folders that OpenRLHF writes, as policy versions.

``global_stepN_hf/`` appears file by file (weights, then config.json, then the tokenizer), and its weights
are readable by their owner alone. Nothing but its contents says that it is whole.
``_actor/global_stepN/`` is the state of the optimiser, named in ``_actor/latest`` when it is whole.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

from solver.validation import INDEX, check_weights, configuration, differing, json_of
from solver.weights import weight_files
from spadekit.errors import BadInput, OurFault
from spadekit.files import write_atomic

LOOSE = ("bos_token_id", "eos_token_id", "pad_token_id")
"""OpenRLHF sets them from the tokenizer; what ends a reply is decided by other files."""


def missing(folder: Path) -> str:
    """Say what is not there yet of the model that is being written to a folder; "" when it is whole.

    The tokenizer, which comes last, is not waited for: a version has its parent's.
    """
    try:
        check_weights(folder)
        json_of(folder / "config.json")
    except BadInput as error:
        return str(error)
    return ""


def check_config(written: Path, parent: Path) -> None:
    """Raise ``OurFault`` when a folder describes another model than that of ``parent``."""
    mine, before = (
        {key: value for key, value in configuration(one).items() if key not in LOOSE}
        for one in (written, parent)
    )
    if key := differing(mine, before):
        raise OurFault(
            f"{written} was not published: its config.json has another `{key}` than {parent.name}"
        )


def fill(target: Path, written: Path, parent: Path, leave: set[str]) -> None:
    """Fill a version's folder: weights as ``written``, everything else as ``parent`` has it.

    ``leave``: files of the parent that are its own. Weights are hard links where that is possible.
    """
    for entry in sorted(parent.iterdir()):
        if entry.is_file() and not entry.name.startswith("model") and entry.name not in leave:
            shutil.copyfile(entry, target / entry.name)
    for path in [*weight_files(written), *written.glob(INDEX)]:
        try:
            os.link(path, target / path.name)
        except OSError:
            shutil.copyfile(path, target / path.name)
        (target / path.name).chmod(0o644)


class Checkpoints:
    """What one launch after the other writes into ``root`` (OpenRLHF's ``--ckpt.path``)."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._known = root / "versions.json"

    def model(self, step: int) -> Path:
        """The model folder of a global step."""
        return self.root / f"global_step{step}_hf"

    def first(self) -> int | None:
        """The policy version that the first launch began with; None before there was one."""
        return self._read().get("first")

    def step_of(self, version: int) -> int | None:
        """The global step whose state made a version; None when it is not kept."""
        step = self._read().get("steps", {}).get(str(version))
        return step if step is not None and self._state(step).is_dir() else None

    def begin(self, first: int) -> None:
        """Forget all states; the next launch begins with the weights of ``first``."""
        shutil.rmtree(self.root, ignore_errors=True)
        self._write({"first": first, "steps": {}})

    def note(self, version: int, step: int) -> None:
        """Remember which global step made a version."""
        told = self._read()
        self._write(told | {"steps": told["steps"] | {str(version): step}})

    def rewind(self, step: int) -> None:
        """Make ``step`` the newest state: what a launch that was ended wrote after it is removed."""
        for path in [*self.root.glob("global_step*_hf"), *self.root.glob("_actor/global_step*")]:
            number = path.name.removeprefix("global_step").removesuffix("_hf")
            if number.isdigit() and int(number) > step:
                shutil.rmtree(path)
        write_atomic(self._state(step).parent / "latest", f"global_step{step}".encode())

    def prune(self, step: int) -> None:
        """Remove the model folders up to ``step``, which OpenRLHF itself never does."""
        for path in self.root.glob("global_step*_hf"):
            number = path.name.removeprefix("global_step").removesuffix("_hf")
            if number.isdigit() and int(number) <= step:
                shutil.rmtree(path)

    def _state(self, step: int) -> Path:
        return self.root / "_actor" / f"global_step{step}"

    def _read(self) -> dict[str, Any]:
        return json_of(self._known) if self._known.exists() else {}

    def _write(self, told: dict[str, Any]) -> None:
        write_atomic(self._known, json.dumps(told).encode())
