"""Who may work in a home: one producer of rounds and one trainer at a time, beside any number of readers.

The two share the store and the policy directory and nothing else; each holds a lock of its own, which
the kernel lets go of when the process ends, however it ends.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from spadekit.errors import BadInput
from spadekit.files import exclusive, is_held

ROUNDS, TRAINING = "rounds.lock", "training.lock"
SCAFFOLD = {
    *((ROUNDS,), (TRAINING,)),
    *(("store", "store.json"), ("store", "lance"), ("policy", "v000000")),
}
"""What opening a home makes in it, again in no time: of the user's there is nothing but the model."""


@contextmanager
def begun(home: Path) -> Iterator[None]:
    """Take away what the block put into a home that was not there before, when ``BadInput`` ends it.

    Only what opening a home makes is taken away: nothing is as soon as anything else is in it, a shard
    or a line of a journal, or while another process works there.
    """
    missing = [one for one in (home, *home.parents) if not _is_there(one)]
    if not missing:
        yield
        return
    try:
        yield
    except (BadInput, BaseExceptionGroup) as error:
        refused = isinstance(error, BadInput) or error.subgroup(BadInput) is not None
        if refused and _is_scaffold(home):
            shutil.rmtree(home, ignore_errors=True)
            with suppress(OSError):  # another home may have been begun beside this one
                for parent in missing[1:]:
                    parent.rmdir()
        raise


@contextmanager
def producing(home: Path) -> Iterator[None]:
    """Be the one that writes rounds, or ``BadInput``."""
    busy = (
        f"another process produces rounds in {home} (`generate`, `loop`, `import` or `serve`); wait for "
        "it, ask the service for a job, or name another --home"
    )
    with exclusive(home / ROUNDS, busy):
        yield


@contextmanager
def training(home: Path) -> Iterator[None]:
    """Be the one that writes policy versions, or ``BadInput``."""
    busy = f"another process trains in {home}; wait for it or name another --home"
    with exclusive(home / TRAINING, busy):
        yield


def trainer_at_work(home: Path) -> bool:
    """Whether a process trains in a home, this one included."""
    return is_held(home / TRAINING)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a folder on the way may not be looked into: what is in it is not ours
        return True


def _is_scaffold(home: Path) -> bool:
    """Whether a home holds nothing but what opening it makes, and nobody is in it."""
    if any(is_held(home / lock) for lock in (ROUNDS, TRAINING)):
        return False
    for path in home.rglob("*"):
        parts = path.relative_to(home).parts
        # What is empty is a journal that was opened and never written to.
        if not path.is_dir() and path.lstat().st_size and not {parts[:1], parts[:2]} & SCAFFOLD:
            return False
    return True
