"""The folder of one launch, which the backend and the engines' processes share.

run-0001/   spec.json      how to play (this module's ``Spec``)
            slots.jsonl    OpenRLHF's data set: one line per row, the same in every rollout
            agent.py       what OpenRLHF loads
            code/          the packages that play, as they were when the launch began
            plans/0000/    one folder per policy version, one file per rollout and row
            claims/        which rollout a row is in
            plays/         what was played, one file per rollout and row
            faults/        why a row could not be played
            alive          written again and again while somebody plans
            command.txt, log.txt
"""

import asyncio
import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memory import PlayRecord
from sandbox import SandboxConfig
from solver.chat import Thinking
from solver.config import SolverConfig
from solver.openrlhf.layout import Layout
from solver.openrlhf.rows import Row
from spadekit.errors import OurFault
from spadekit.files import folder_atomic, write_atomic, write_json

AGENT = '''\
"""Loaded by OpenRLHF in every vLLM engine."""

import sys

sys.path.insert(0, {code!r})

from solver.openrlhf.agent import Executor


class AgentExecutor(Executor):
    folder = {folder!r}
'''
PACKAGES = ("spadekit", "sandbox", "memory", "solver")
_LOOK_S = 0.2


@dataclass(frozen=True)
class Spec:
    """What an engine's process has to know."""

    row: int
    """Samples of one row."""
    rollouts: int
    """Rollouts of one policy version."""
    reply_s: float
    silence_s: float
    model: str
    """Folder with the tokenizer and what ends a reply."""
    thinking: Thinking
    playing: SolverConfig
    sandbox: SandboxConfig


@dataclass(frozen=True)
class Played:
    """What came of one row of plays."""

    plays: tuple[PlayRecord, ...]
    malformed: int
    cut: int


class Run:
    """One launch's folder. Files appear whole."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    # The backend's side

    def begin(self, spec: Spec, layout: Layout) -> None:
        """Write everything that does not change during the launch."""
        for name in ("plans", "claims", "plays", "faults"):
            (self.folder / name).mkdir(parents=True)
        write_json(self.folder / "spec.json", asdict(spec))
        write_atomic(self.slots, slots(layout).encode())
        code = self.folder / "code"
        root = Path(__file__).parents[2]
        for name in PACKAGES:
            ignored = shutil.ignore_patterns("__pycache__", "weights", "*.jsonl")
            shutil.copytree(root / name, code / name, ignore=ignored)
        agent = AGENT.format(code=str(code), folder=str(self.folder))
        write_atomic(self.agent, agent.encode())

    @property
    def slots(self) -> Path:
        """The data set."""
        return self.folder / "slots.jsonl"

    @property
    def agent(self) -> Path:
        """The file with the class that OpenRLHF loads."""
        return self.folder / "agent.py"

    def plan(self, number: int, rollouts: Sequence[Sequence[Row]]) -> None:
        """Hand over the rows of the launch's ``number``-th policy version (from 0)."""
        with folder_atomic(self._plan(number)) as folder:
            for rollout, rows in enumerate(rollouts):
                for index, row in enumerate(rows):
                    write_atomic(folder / _name(rollout, index), row.dump().encode())

    def beat(self) -> None:
        """Show that somebody plans."""
        write_atomic(self.folder / "alive", repr(time.time()).encode())

    def played(self, number: int) -> list[Played]:
        """Return what was played for the ``number``-th policy version, row by row."""
        found = []
        for path in sorted((self.folder / "plays").glob(f"{number:04d}-*.json")):
            told = json.loads(path.read_text(encoding="utf-8"))
            plays = tuple(PlayRecord(**_tuples(play)) for play in told["plays"])
            found.append(Played(plays, told["malformed"], told["cut"]))
        return found

    def faults(self, number: int) -> list[str]:
        """Return why rows of the ``number``-th policy version could not be played."""
        paths = sorted((self.folder / "faults").glob(f"{number:04d}-*.txt"))
        return [path.read_text(encoding="utf-8") for path in paths]

    def tidy(self) -> None:
        """Remove all but the command and the log; what was played is in the store."""
        for entry in self.folder.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry)
        (self.folder / "alive").unlink(missing_ok=True)

    # The engines' side

    def spec(self) -> Spec:
        """Read how to play."""
        told = json.loads((self.folder / "spec.json").read_text(encoding="utf-8"))
        playing, sandbox = SolverConfig(**told.pop("playing")), SandboxConfig(**told.pop("sandbox"))
        return Spec(playing=playing, sandbox=sandbox, **told)

    def claim(self, index: int) -> int:
        """Say that a row is sampled now; return in which of the launch's rollouts (from 0).

        Every row is sampled once in each rollout, by any engine.
        """
        taken = len(list((self.folder / "claims").glob(f"{index:04d}-*")))
        (self.folder / "claims" / f"{index:04d}-{taken:06d}").touch(exist_ok=False)
        return taken

    async def row(self, rollout: int, index: int, spec: Spec) -> Row:
        """Wait until the row is planned; ``OurFault`` when nobody plans any more.

        Not by the clock, which may differ between machines: a beat that is another is a new one.
        """
        number, part = divmod(rollout, spec.rollouts)
        path = self._plan(number) / _name(part, index)
        beat, heard = b"", time.monotonic()
        while not path.parent.is_dir():
            if (latest := self._beat()) != beat:
                beat, heard = latest, time.monotonic()
            elif time.monotonic() - heard > spec.silence_s:
                raise OurFault(
                    f"nothing was heard of `spadework train`, which plans the next step, for "
                    f"{spec.silence_s:g} s"
                )
            await asyncio.sleep(_LOOK_S)
        return Row.read(path.read_text(encoding="utf-8"))

    def note_played(self, rollout: int, index: int, spec: Spec, played: Played) -> None:
        """Write down what was played in a row."""
        write_atomic(
            self._note("plays", rollout, index, spec, "json"), json.dumps(asdict(played)).encode()
        )

    def note_fault(self, rollout: int, index: int, spec: Spec, why: str) -> None:
        """Write down why a row could not be played."""
        write_atomic(
            self._note("faults", rollout, index, spec, "txt"), why.encode("utf-8", "replace")
        )

    def _beat(self) -> bytes:
        path = self.folder / "alive"
        return path.read_bytes() if path.exists() else b""

    def _note(self, kind: str, rollout: int, index: int, spec: Spec, suffix: str) -> Path:
        number, part = divmod(rollout, spec.rollouts)
        return self.folder / kind / f"{number:04d}-{part:04d}-{index:04d}.{suffix}"

    def _plan(self, number: int) -> Path:
        return self.folder / "plans" / f"{number:04d}"


def slots(layout: Layout) -> str:
    """Return OpenRLHF's data set: a line for every row, to be sampled once in each rollout.

    What a row is about is looked up when it is sampled: OpenRLHF reads its data once and shuffles it.
    """
    roles = ["solver"] * layout.play_rows + ["designer"] * layout.design_rows
    lines = [
        json.dumps({"prompt": f"row {index}", "label": json.dumps({"row": index, "role": role})})
        for index, role in enumerate(roles)
    ]
    return "\n".join(lines) + "\n"


def _name(rollout: int, index: int) -> str:
    return f"{rollout:04d}-{index:04d}.json"


def _tuples(record: dict[str, Any]) -> dict[str, Any]:
    return {
        key: tuple(value) if isinstance(value, list) else value for key, value in record.items()
    }
