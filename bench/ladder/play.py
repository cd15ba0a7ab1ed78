"""Make the plays that are still to make: the floor, then waves of the most telling ones."""

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np

from bench.ladder.book import Book, Key
from bench.ladder.choice import budget, choose, floor_of
from bench.ladder.config import LadderConfig
from bench.ladder.ratings import fit
from sandbox import Pool, Sandbox, SandboxConfig
from solver.config import PolicyConfig, SolverConfig
from solver.engines import open_policy
from solver.episodes import play_many
from solver.policy import Policy
from solver.versions import Versions
from spadekit.cli import Session
from spadekit.errors import BadInput


def floor(book: Book, config: LadderConfig) -> list[Key]:
    """Return the floor: every version's plays on the same instances of every shard."""
    numbers = [one.version for one in book.field.contestants]
    names = [one.id for one in book.field.environments]
    sizes = [len(one.environments) for one in book.field.courses]
    return [
        Key(numbers[version], names[environment], number)
        for (version, environment), number in floor_of(len(numbers), sizes, config.floor)
    ]


def total(book: Book, config: LadderConfig) -> int:
    """Return how many plays there are to be in all. Raises ``BadInput`` for too small a budget."""
    field = book.field
    try:
        return budget(
            *(len(field.contestants), len(field.courses)),
            *(config.floor, config.plays, config.every),
        )
    except ValueError as error:
        raise BadInput(str(error)) from None


def wave(book: Book, config: LadderConfig) -> list[Key]:
    """Return the plays to make next, by version; none when the budget is spent."""
    left = [key for key in floor(book, config) if key not in book.returns]
    room = total(book, config) - len(book.returns)
    if not left:
        left = [key for key in book.planned if _counts(book, key)][: max(0, room)]
    if not left and room > 0:
        above = total(book, config) - len(floor(book, config))
        size = min(room, math.ceil(above / config.waves))
        book.plan(_telling(book, size))
        left = book.planned
    return sorted(left, key=lambda key: key.version)


def _counts(book: Book, key: Key) -> bool:
    """Whether a play of a wave is still to make, by versions and environments that still take part."""
    known = {one.id for one in book.field.environments}
    return key not in book.returns and key.version in book.field.places and key.environment in known


def _telling(book: Book, plays: int) -> list[Key]:
    numbers = [one.version for one in book.field.contestants]
    names = [one.id for one in book.field.environments]
    unsound = book.unsound()
    sound_E = np.array([name not in unsound for name in names])
    tallies = book.tallies()
    made = Counter((key.version, key.environment) for key in book.returns)
    keys = []
    for version, environment in choose(fit(tallies), tallies, sound_E, plays):
        pair = numbers[version], names[environment]
        keys.append(Key(*pair, made[pair]))
        made[pair] += 1
    return keys


async def carry_out(session: Session, book: Book, config: LadderConfig) -> int:
    """Make every play that is still to make; return how many were made.

    Raises ``BadInput`` for a version that is not there, ``SandboxFault`` for a fault of ours.
    """
    versions = Versions(session.home / "policy")
    began = len(book.returns)
    todo = wave(book, config)
    if not todo:
        return 0
    session.report.note(
        f"{len(book.field.contestants)} versions on {len(book.field.courses)} shards: "
        f"{total(book, config):,} plays, the floor is {len(floor(book, config)):,} of them; "
        f"{began:,} are made"
    )
    solver = session.settings.section(SolverConfig)
    sources = {one.id: one.source for one in book.field.environments}
    with session.report.progress() as progress:
        bar = progress.add_task("plays", total=total(book, config), completed=began, note="")
        async with (
            open_policy(
                versions.path(todo[0].version),
                session.settings.section(PolicyConfig),
                session.report.note,
            ) as policy,
            Sandbox(session.settings.section(SandboxConfig)) as sandbox,
            Pool(sandbox) as pool,
        ):
            while todo:
                for keys in _portions(todo, 2 * solver.concurrency):
                    await _load(policy, versions, keys[0].version)
                    progress.update(bar, note=f"version {keys[0].version}")
                    jobs = [book.protocol.job(key, sources[key.environment]) for key in keys]
                    book.add(keys, await play_many(policy, pool, jobs, solver))
                    progress.update(bar, completed=len(book.returns))
                todo = wave(book, config)
    return len(book.returns) - began


async def _load(policy: Policy, versions: Versions, number: int) -> None:
    if policy.version != number:
        await policy.load(versions.path(number))


def _portions(keys: list[Key], size: int) -> Iterator[list[Key]]:
    """Cut a wave where the version changes, and into parts whose loss a kill may cost."""
    for version in dict.fromkeys(key.version for key in keys):
        mine = [key for key in keys if key.version == version]
        mine.sort(key=lambda key: key.environment)  # plays of one environment share its jail
        for start in range(0, len(mine), size):
            yield mine[start : start + size]
