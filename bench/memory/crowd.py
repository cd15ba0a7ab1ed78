"""Many writers at once, and writers and upkeep killed at random: what was acknowledged stays."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from bench.memory import synthetic
from bench.memory.writer import SIZE
from bench.throughput.row import Row
from memory import MemoryConfig, Store

WRITER = "bench.memory.writer"
NUMBERS = 100_000  # numbers of one writer's shards and environments start at a multiple of this


def writers(folder: Path, count: int, publications: int) -> list[Row]:
    """Have ``count`` processes publish at once and one reader read; compare with one writer."""
    alone = _crowd(folder / "alone", 1, publications)
    crowd = _crowd(folder / "crowd", count, publications)
    name = f"{count} processes writing at once"
    rows = [
        Row(
            part="crowd",
            measure=f"{name}: publications",
            value=crowd["rate"],
            unit="1/s",
            n=count * publications,
            peer="one process",
            peer_value=alone["rate"],
        )
    ]
    rows += [
        Row(part="crowd", measure=f"{name}: {what}", value=crowd[what], unit="", n=int(crowd["n"]))
        for what in ("rows missing", "rows double", "reader errors", "problems verify finds")
    ]
    return rows


def kills(folder: Path, count: int, seed: int = 0) -> list[Row]:
    """Kill writers and upkeep ``count`` times at random moments; open and verify after each ten."""
    root = folder / "killed"
    chance = random.Random(seed)
    acknowledged: set[int] = set()
    unopened = problems = 0
    for kill in range(count):
        first = max((*acknowledged, kill * 1000)) + 1
        with _process(root, first, 1000, upkeep=kill % 2 == 1) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()  # it is up
            said = writer.stdout.readline() if kill % 4 else ""  # the first may take long
            time.sleep(chance.uniform(0.02, 0.8))
            os.killpg(writer.pid, signal.SIGKILL)
            acknowledged |= _acknowledged(said + writer.stdout.read())
        if kill % 10 == 9 or kill == count - 1:
            try:
                with Store.open(root) as store:
                    problems += len(store.verify())
                    lost = acknowledged - {one.shard for one in store.shards()}
                    held = store.tables.scan("environments", columns=["shard"])["shard"]
                    lost |= acknowledged - set(held.to_pylist())
            except Exception:
                unopened += 1
    name = f"{count} kills of writers and compaction"
    figures = {
        "acknowledged and lost": len(lost),
        "times the store did not open": unopened,
        "problems verify finds": problems,
    }
    rows = [
        Row(part="crowd", measure=f"{name}: {what}", value=float(value), unit="", n=count)
        for what, value in figures.items()
    ]
    measure = f"{name}: publications acknowledged"
    return [*rows, Row(part="crowd", measure=measure, value=len(acknowledged), unit="", n=count)]


def _crowd(root: Path, count: int, publications: int) -> dict[str, float]:
    Store.open(root, create=True).close()
    errors: list[Exception] = []
    stop = threading.Event()
    reader = threading.Thread(target=_read, args=(root, stop, errors))
    began = time.perf_counter()
    with contextlib.ExitStack() as stack:
        reader.start()
        running = [
            stack.enter_context(_process(root, one * NUMBERS + 1, publications))
            for one in range(count)
        ]
        said = [writer.communicate()[0] for writer in running]
    seconds = time.perf_counter() - began
    stop.set()
    reader.join()
    acknowledged = set().union(*map(_acknowledged, said))
    expected = sorted(
        synthetic.environment(shard * SIZE + one, shard).id
        for shard in acknowledged
        for one in range(SIZE)
    )
    with Store.open(root) as store:
        problems = store.verify()
        held = sorted(store.tables.scan("environments", columns=["id"])["id"].to_pylist())
    missing = len(set(expected) - set(held)) + (count * publications - len(acknowledged))
    return {
        "n": float(len(expected)),
        "rate": len(acknowledged) / seconds,
        "rows missing": float(missing),
        "rows double": float(len(held) - len(set(held))),
        "reader errors": float(len(errors)),
        "problems verify finds": float(len(problems)),
    }


def _read(root: Path, stop: threading.Event, errors: list[Exception]) -> None:
    seen = 0
    with Store.open(root, MemoryConfig(fresh_s=0.0)) as store:
        while not stop.is_set():
            try:
                rows = store.tables.scan("environments", columns=["id"]).num_rows
                if rows < seen:
                    raise AssertionError(f"{seen} rows became {rows}")
                seen = rows
            except Exception as error:
                errors.append(error)
            time.sleep(0.05)


@contextlib.contextmanager
def _process(
    root: Path, first: int, publications: int, upkeep: bool = False
) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", WRITER, str(root), str(first), str(publications)]
    if upkeep:
        command.append("upkeep")
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _acknowledged(text: str) -> set[int]:
    return {int(line) for line in text.split() if line.isdigit()}
