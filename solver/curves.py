"""The curves of a run that people look at, written as steps finish: JSONL and TensorBoard events.

    runs/RUN/curves.jsonl             a line for each round and for each trained policy version
    runs/RUN/tensorboard/rounds/      rounds as events; the step is the shard's number
    runs/RUN/tensorboard/versions/    policy versions as events; the step is the version

What is stored with shards and policy versions is the truth, these files are copies of its figures. They
are only appended to. What is stored and not written yet is written by the next ``update``, of whichever
process: a killed run loses no step and a resumed one repeats none. A line has ``kind``, ``step`` and the
figures by name; what was not measured is left out. docs/curves.md says what the names mean.
"""

import datetime as dt
import fcntl
import json
import math
import os
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Literal

from memory import Manifest
from solver.versions import INFO, PolicyInfo, Versions
from spadekit.errors import BadInput

Kind = Literal["round", "version"]
FILE = "curves.jsonl"
EVENTS = "tensorboard"
FOLDERS: Mapping[Kind, str] = {"round": "rounds", "version": "versions"}
EVENT_FILE = "events.out.tfevents.0000000000.spadework"
"""One file of each kind for good, so that a resumed run goes on in it."""

ROUND_NAMES = (
    (r"return_(hinted|unhinted)", r"solver/return_\1"),
    (r"plays", "solver/plays"),
    (r"faulted_plays", "solver/faulted"),
    (r"designer_reward", "designer/reward"),
    (r"(regret|learnable|designs|valid|admitted|duplicates|faulted)", r"designer/\1"),
    (r"((?:repaired|follow_ups)(?:_valid)?)", r"designer/\1"),
    (r"refused_at/(.+)", r"designer/refused_at/\1"),
    (r"variety/(.+)", r"designer/\1"),
    (r"monitors/figures/(\w+)/share", r"designer/monitors/\1"),
    (r"(?:monitors|drawn|averages|playbook)/.+|seed|round", ""),
    (r"(.+)", r"round/\1"),
)
"""Paths in a shard's manifest and their names as curves: the first that fits counts, "" is none."""
VERSION_NAMES = (
    (r"version", ""),
    (r"plays/count", "solver/plays"),
    (r"plays/(.+)", r"solver/\1"),
    (r"solver/reward", "solver/return"),
    (r"((?:solver|designer)/.+)", r"\1"),
    (r"(.+)", r"train/\1"),
)
"""The same for the metrics in a version's ``policy.json``."""


@dataclass(frozen=True)
class Row:
    """The figures of one step by name. ``at``: when it was published, in seconds since 1970."""

    kind: Kind
    step: int
    at: float
    values: Mapping[str, float]


def of_round(manifest: Manifest) -> Row:
    """Return what a shard's manifest says about the round that made it."""
    at = dt.datetime.fromisoformat(manifest.created).timestamp()
    values = {"policy_version": manifest.policy_version, **manifest.meta}
    return Row("round", manifest.shard, at, named(values, ROUND_NAMES))


def of_version(info: PolicyInfo, at: float) -> Row:
    """Return what a policy version says about the training step that made it."""
    return Row("version", info.version, at, named(info.metrics, VERSION_NAMES))


def named(metrics: Mapping[str, Any], names: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Return nested figures by the name of their curve. Of two that share one, the later counts."""
    found: dict[str, float] = {}
    for path, value in flat(metrics):
        for pattern, name in names:
            if re.fullmatch(pattern, path):
                if name:
                    found[re.sub(pattern, name, path)] = value
                break
    return found


def flat(metrics: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Give nested figures as paths (``a/b``) and floats; what is no finite number is left out."""
    for key, value in metrics.items():
        path = prefix + re.sub(r"[^\w.-]+", "_", str(key))
        if isinstance(value, Mapping):
            yield from flat(value, f"{path}/")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield from [(path, float(value))] if math.isfinite(value) else ()


def update(
    home: Path, manifests: Sequence[Manifest], versions: Versions, note: Callable[[str], None]
) -> None:
    """Write what is stored in a home and not among its run's curves yet.

    A run never stops for its curves: what keeps them from being written is said through ``note``.
    """
    runs = [str(one.meta["run"]) for one in manifests if "run" in one.meta]
    folder = home / "runs" / (runs[-1] if runs else "main")
    path = folder / FILE
    try:
        with _locked(path) as out:
            rows = _Rows(manifests, versions)
            new = _append_lines(out, rows)
            if find_spec("tensorboard"):
                for kind, name in FOLDERS.items():
                    _append_events(folder / EVENTS / name, kind, rows)
            elif new:
                note(
                    f"curves: {path} only; with the package tensorboard installed "
                    "(pip install -e '.[tensorboard]') the events are written too, from the first step on"
                )
    except OSError as error:
        note(f"curves: {error.filename or path} cannot be written: {error.strerror or error}")
    except BadInput as error:
        note(f"curves: not written: {error}")
    except ValueError as error:
        note(f"curves: {error}; remove it, and the next step writes it again from what is stored")


class _Rows:
    """The rows of what is stored; a version's record is read when its row is asked for."""

    def __init__(self, manifests: Sequence[Manifest], versions: Versions) -> None:
        self._rounds = {one.shard: one for one in manifests if one.meta.get("origin") != "import"}
        self._versions = versions

    def steps(self, kind: Kind) -> list[int]:
        """Rounds that were published, or versions that were trained: 0 never was."""
        if kind == "round":
            return sorted(self._rounds)
        return [version for version in self._versions.all() if version]

    def row(self, kind: Kind, step: int) -> Row:
        if kind == "round":
            return of_round(self._rounds[step])
        info = self._versions.read(step)
        return of_version(info, (self._versions.path(step) / INFO).stat().st_mtime)

    def but(self, kind: Kind, known: Iterable[int]) -> Iterator[Row]:
        """Give the rows of a kind but those whose steps are ``known``, in order."""
        left_out = set(known)
        return (self.row(kind, step) for step in self.steps(kind) if step not in left_out)


@contextmanager
def _locked(path: Path) -> Iterator[IO[bytes]]:
    """Open for reading and appending; ``generate`` and ``train`` side by side take turns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        handle.seek(0)
        yield handle


def _append_lines(out: IO[bytes], rows: _Rows) -> bool:
    """Append the steps that are missing; return whether the file was empty before.

    A line that a kill tore is written again. Raises ``ValueError`` for one that is no row.
    """
    known: set[tuple[str, int]] = set()
    whole = 0
    for number, line in enumerate(out, start=1):
        if not line.endswith(b"\n"):
            break
        try:
            entry = json.loads(line)
            known.add((entry["kind"], entry["step"]))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"{out.name}: line {number} is no step ({error})") from None
        whole += len(line)
    os.truncate(out.fileno(), whole)
    lines = [
        json.dumps({"kind": kind, "step": row.step, **row.values}, allow_nan=False).encode() + b"\n"
        for kind in FOLDERS
        for row in rows.but(kind, (step for one, step in known if one == kind))
    ]
    out.write(b"".join(lines))
    out.flush()
    return bool(lines) and not whole


def _append_events(folder: Path, kind: Kind, rows: _Rows) -> None:
    """Append the steps that are missing, each as one record, so that a kill tears all of it or nothing."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c
    from tensorboard.summary.writer.record_writer import RecordWriter

    path = folder / EVENT_FILE
    data = path.read_bytes() if path.exists() else b""
    records, whole = _records(data, masked_crc32c)
    events = [Event.FromString(record) for record in records]
    new = list(rows.but(kind, (one.step for one in events if one.HasField("summary"))))
    if not new:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as out:
        out.truncate(whole)
        writer = RecordWriter(out)
        if not whole:
            head = Event(wall_time=new[0].at, file_version="brain.Event:2")
            writer.write(head.SerializeToString())
        for row in new:
            summary = Summary(
                value=[
                    Summary.Value(tag=name, simple_value=value)
                    for name, value in row.values.items()
                ]
            )
            event = Event(wall_time=row.at, step=row.step, summary=summary)
            writer.write(event.SerializeToString())


def _records(data: bytes, crc: Callable[[bytes], int]) -> tuple[list[bytes], int]:
    """Return the whole records of an event file and the bytes that they take.

    A record is its length (8 bytes, little-endian), the length's sum (4), the data and its sum (4). The
    sums of the last data alone are checked: a kill tears nothing before them.
    """
    found, place, last = [], 0, 0
    while place + 12 <= len(data):
        length, total = struct.unpack_from("<QI", data, place)
        end = place + 12 + length + 4
        if total != crc(data[place : place + 8]) or end > len(data):
            break
        found.append(data[place + 12 : end - 4])
        last, place = place, end
    if found and data[place - 4 : place] != struct.pack("<I", crc(found[-1])):
        return found[:-1], last
    return found, place
