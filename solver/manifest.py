"""The manifest of a policy folder: SHA-256 of every file, and the facts of the run that made it."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spadekit.files import write_json

SHIPPED = Path(__file__).parent / "embedded" / "weights"
"""The folder of the policy that ships with the package."""
NAME = "manifest.json"


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a folder but the manifest."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != NAME)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def write(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write the manifest of a folder."""
    write_json(folder / NAME, {"files": digests(folder), "run": dict(facts)})


def problems(folder: Path) -> list[str]:
    """Return what differs between a folder and its manifest, one line each."""
    listed: dict[str, str] = json.loads((folder / NAME).read_text("utf-8"))["files"]
    found = digests(folder)
    lines = [f"{name} is missing" for name in listed if name not in found]
    lines += [f"{name} is not in the manifest" for name in found if name not in listed]
    lines += [
        f"{name} differs from its SHA-256 in the manifest"
        for name in listed
        if name in found and found[name] != listed[name]
    ]
    return lines
