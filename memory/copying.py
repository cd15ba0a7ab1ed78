"""Copy a whole store between places: shards, logs, releases and tables, checked by their digests.

Nothing at the target counts before ``store.json``, which comes last, after everything there was read
back and verified. A copy that was interrupted is finished by running it again: what is there stays.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

from memory import generation, releases, shards
from memory.config import MemoryConfig
from memory.faults import cause, explain
from memory.mark import MARK, UNFINISHED
from memory.places import Place
from memory.shards import MALFORMED, json_bytes
from memory.store import Store
from spadekit.errors import BadInput

_LOGS = ("plays", "standings")
Told = Callable[[str], None]


@dataclass(frozen=True)
class Copied:
    """Shards, logs, releases and files of tables: written now, and there already."""

    written: int
    kept: int


def copy(source: Store, target: Place, config: MemoryConfig, told: Told = lambda _: None) -> Copied:
    """Copy ``source`` to ``target``; ``told`` hears of every part. Raises ``BadInput``.

    A target that is a store is brought up to date, if what it has is the same; a place with other
    files is refused. Records that differ from their sums are not copied.
    """
    try:
        return _copy(source, target, config, told)
    except OSError as error:
        place = str(error.filename or target)
        if cause(error):
            raise BadInput(explain(error, place)) from None
        raise BadInput(
            f"{place}: cannot be used for a copy to {target} ({error.strerror or error}); mend that "
            "and run the copy again, or name another place"
        ) from None


def _copy(source: Store, target: Place, config: MemoryConfig, told: Told) -> Copied:
    root = source.place
    _check(root, target)
    finished = (target / MARK).exists()
    if not finished:
        (target / UNFINISHED).replace(json_bytes({"from": str(root)}))
    counts = {True: 0, False: 0}  # written now, there already
    for number in shards.numbers(root / "shards"):
        told(f"shard {number}")
        counts[_shard(root, target, number)] += 1
    for log in _LOGS:
        for name in shards.logs(root / log):
            told(f"{log}/{name}")
            counts[_log(root / log / name, target / log / name)] += 1
    for name in releases.listed(root):
        told(f"release {name}")
        data = (root / "releases" / f"{name}.json").read()
        releases.read(root, name)
        counts[_release(target, name, data)] += 1
    if not finished:
        told("tables")
        written, kept = _tables(source, target)
        counts[True] += written
        counts[False] += kept
    told("verifying")
    copied = Store(target, config, source.embedder)
    try:
        problems = copied.verify()
    finally:
        copied.close()
    if problems:
        raise BadInput(f"the copy is not whole: {problems[0]}")
    (target / MARK).create((root / MARK).read())
    (target / UNFINISHED).remove()
    return Copied(written=counts[True], kept=counts[False])


def _check(root: Place, target: Place) -> None:
    here, there = f"{root.real}/", f"{target.real}/"
    if here.startswith(there) or there.startswith(here):
        raise BadInput(f"{target} and {root} lie in one another; copy to another place")
    if (target / MARK).exists():
        return
    try:
        begun = json.loads((target / UNFINISHED).read())["from"]
    except (FileNotFoundError, *MALFORMED):
        if not target.empty():
            raise BadInput(f"{target} holds other files; copy to an empty place") from None
    else:
        if begun != str(root):
            raise BadInput(f"{target} is being filled from {begun}; finish that or remove it")


def _shard(root: Place, target: Place, number: int) -> bool:
    head = shards.manifest(root / "shards", number)
    folder = shards.folder_of(target / "shards", number)
    if number in shards.numbers(target / "shards"):
        if shards.manifest(target / "shards", number).digest != head.digest:
            raise BadInput(f"{folder} is another shard {number}; {target} is another store")
        return False
    files = {
        name: shards.member_bytes(root / "shards", head, name.removesuffix(".parquet"))
        for name in head.files
    }
    files["manifest.json"] = (shards.folder_of(root / "shards", number) / "manifest.json").read()
    return folder.publish(files)


def _log(source: Place, target: Place) -> bool:
    if target.exists():
        return False
    return target.create(shards.log_bytes(source))


def _release(target: Place, name: str, data: bytes) -> bool:
    place = target / "releases" / f"{name}.json"
    if place.create(data):
        return True
    if place.read() != data:
        raise BadInput(f"{place} is another release; {target} is another store")
    return False


def _tables(source: Store, target: Place) -> tuple[int, int]:
    """Copy the current tables, the files that name others last, and remove what is not theirs."""
    root = source.place
    with (root / "index.lock").lock():
        folder = generation.current(root).name
        here, there = root / folder, target / folder
        names = sorted(here.files(), key=lambda name: ("/_versions/" in name, name))
        had = there.files()
        written = 0
        for name in names:
            data = (here / name).read()
            if had.get(name) != len(data) or (there / name).read() != data:
                (there / name).replace(data)
                written += 1
    for name in had.keys() - set(names):
        (there / name).remove()
    generation.switch(target, folder)
    return written, len(names) - written
