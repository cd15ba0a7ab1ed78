"""Who may work in a home: one producer of rounds and one trainer at a time, beside any number of readers.

The two share the store and the policy directory and nothing else; each holds a lock of its own, which
the kernel lets go of when the process ends, however it ends.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spadekit.files import exclusive, is_held

ROUNDS, TRAINING = "rounds.lock", "training.lock"


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
