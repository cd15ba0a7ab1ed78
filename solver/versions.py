"""The policy directory: versions ``vNNNNNN/`` with weights, published by rename and never changed.

policy/v000000/   model.safetensors, config.json, tokenizer files, policy.json
policy/v000001/   the same, and the trainer's state after this version: optimiser.state, curriculum.json
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from solver.chat import Chat
from solver.config import PolicyConfig
from solver.manifest import SHIPPED
from solver.validation import check_successor
from solver.weights import MEND, load_model, weight_files
from spadekit.errors import BadInput, OurFault
from spadekit.files import folder_atomic, write_json

OPTIMISER = "optimiser.state"
"""In the safetensors format under another name: model servers load every ``*.safetensors`` they find."""
CURRICULUM = "curriculum.json"
"""What the version's step played and why, and the curriculum's state (``solver.curriculum``)."""
INFO = "policy.json"


@dataclass(frozen=True)
class PolicyInfo:
    """What ``policy.json`` says about a version."""

    version: int
    parent: int | None
    step: int
    """GRPO steps since version 0."""
    shard: int | None
    """The shard this version was trained on; None for version 0."""
    config: str
    """Digest of the configuration it was trained with."""
    digests: Mapping[str, str]
    """SHA-256 of every other file of the folder."""
    metrics: Mapping[str, Any]
    """Figures of the training step that made it."""
    model: str = ""
    """Version 0: `policy.model` as it was when the home was begun."""
    parent_weights: str = ""
    """``weights`` of the parent that it was made from; "" without one."""

    @classmethod
    def read(cls, folder: Path) -> "PolicyInfo":
        """Read a version's ``policy.json``; ``BadInput`` when it is missing or damaged."""
        path = folder / INFO
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise BadInput(f"{path} is missing: not a policy version; {MEND}") from None
        except (OSError, ValueError, TypeError) as error:
            raise BadInput(f"{path} is damaged ({error}); {MEND}") from None

    @classmethod
    def validated(cls, folder: Path) -> "PolicyInfo":
        """Read it and check the other files' digests; ``BadInput`` names the one that fails."""
        info = cls.read(folder)
        for name, digest in info.digests.items():
            path = folder / name
            if not path.is_file():
                raise BadInput(f"{path} is missing; {MEND}")
            if file_digest(path) != digest:
                raise BadInput(f"{path} is damaged (its SHA-256 differs from {INFO}); {MEND}")
        return info

    @property
    def weights(self) -> str:
        """One digest of the files that decide what the version says (the trainer's state does not)."""
        lines = [
            f"{name} {digest}"
            for name, digest in sorted(self.digests.items())
            if not name.startswith("optimiser") and name != CURRICULUM
        ]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


class Versions:
    """The versions in one folder (``home/policy``); half-written ones are never seen."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, version: int) -> Path:
        """The folder of a version, there or not."""
        return self.root / f"v{version:06d}"

    def has(self, version: int) -> bool:
        """Whether a version has been published."""
        return self.path(version).is_dir()

    def all(self) -> list[int]:
        """Published versions, ascending."""
        names = (entry.name for entry in self.root.glob("v*") if entry.is_dir())
        return sorted(int(name[1:]) for name in names if len(name) == 7 and name[1:].isdigit())

    def latest(self) -> int:
        """The newest version; ``BadInput`` when there is none."""
        versions = self.all()
        if not versions:
            raise BadInput(
                f"{self.root} holds no policy version; run `spadework loop` or `train` first"
            )
        return versions[-1]

    def read(self, version: int) -> PolicyInfo:
        """What a version says about itself."""
        if not self.has(version):
            raise BadInput(f"policy version {version} is not in {self.root}; {_known(self.all())}")
        return PolicyInfo.read(self.path(version))

    def validate(self, version: int) -> PolicyInfo:
        """Check a version's files against their digests; ``BadInput`` names the one that fails.

        Where its parent still is, it must be the one that the version was made from.
        """
        self.read(version)
        info = PolicyInfo.validated(self.path(version))
        if info.parent is None or not self.has(info.parent):
            return info
        if self.read(info.parent).weights != info.parent_weights:
            raise BadInput(
                f"{self.path(version)} was made from other weights than those that "
                f"{self.path(info.parent).name} beside it has; {MEND}"
            )
        return info

    def bootstrap(self, config: PolicyConfig) -> Path:
        """Make version 0 from the configured model unless it is there; return its folder.

        Raises ``BadInput`` for a model that cannot be used, and where version 0 has the weights of
        another one: a home goes on with the model it was begun with.
        """
        target = self.path(0)
        if config.engine == "chat":
            return self._bootstrap_endpoint(config, target)
        source = model_folder(config)
        if not (source / "config.json").is_file():
            raise BadInput(
                f"{source}: no model there (config.json is missing); set policy.model to a folder"
            )
        if target.is_dir():
            begun = self.read(0)
            weights = {path.name: file_digest(path) for path in weight_files(source)}
            if weights != {name: begun.digests.get(name) for name in weights}:
                raise BadInput(
                    f"{self.root} was begun with the model {begun.model}, whose weights are not "
                    f"those of {config.model}; set policy.model back or use another --home"
                )
            return target
        # First what is quickly found: a template that cannot be used is not worth reading weights for.
        Chat.open(source, config.thinking)
        load_model(source)
        names = [
            entry for entry in sorted(source.iterdir()) if entry.is_file() and entry.name != INFO
        ]

        def write(folder: Path) -> None:
            for entry in names:
                shutil.copyfile(entry, folder / entry.name)

        return target if self._begin(config.model, write) else self.bootstrap(config)

    def _bootstrap_endpoint(self, config: PolicyConfig, target: Path) -> Path:
        """Make version 0 of a model that lies behind an endpoint: a record without weights."""
        if not target.is_dir():
            self._begin(config.model, lambda _: None)
        return target

    def _begin(self, model: str, write: Callable[[Path], None]) -> bool:
        """Publish version 0; False when another process, begun at the same time, has just done so."""
        try:
            self.publish(PolicyInfo(0, None, 0, None, "", {}, {}, model), write)
        except BadInput:
            if not self.has(0):
                raise
            return False
        return True

    def publish(self, info: PolicyInfo, write: Callable[[Path], None]) -> Path:
        """Publish a version: ``write`` fills the folder, digests are added, then it is renamed.

        One with a parent is first checked against it (``solver.validation``): everybody who watches
        the folder takes over what stands there. Raises ``OurFault`` for one that does not pass,
        ``BadInput`` for a folder that cannot be written.
        """
        from safetensors import SafetensorError

        target = self.path(info.version)
        try:
            with folder_atomic(target) as folder:
                write(folder)
                parent = ""
                if info.parent is not None:
                    self._check(info, folder)
                    parent = self.read(info.parent).weights
                digests = {entry.name: file_digest(entry) for entry in sorted(folder.iterdir())}
                write_json(
                    folder / INFO, {**asdict(info), "digests": digests, "parent_weights": parent}
                )
        except (OSError, SafetensorError) as error:  # the latter: a disk that is full
            raise BadInput(f"{target} cannot be written: {error}") from None
        return target

    def _check(self, info: PolicyInfo, folder: Path) -> None:
        assert info.parent is not None
        try:
            check_successor(folder, self.path(info.parent))
        except BadInput as error:
            why = str(error).replace(str(folder), self.path(info.version).name)
            raise OurFault(f"policy version {info.version} was not published: {why}") from error


def model_folder(config: PolicyConfig) -> Path:
    """The folder of the configured model."""
    return SHIPPED if config.model == "embedded" else Path(config.model).expanduser()


def version_of(folder: Path) -> int:
    """The version of a folder, its files checked; a plain model folder without a record is 0."""
    return PolicyInfo.validated(folder).version if (folder / INFO).exists() else 0


def file_digest(path: Path) -> str:
    """SHA-256 of a file in hex."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _known(versions: list[int]) -> str:
    return f"it holds {versions[0]} to {versions[-1]}" if versions else "it holds none"
