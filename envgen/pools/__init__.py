"""Bringing in pools of environments that others made: folders, tables, data sets, task packages.

Every candidate passes the certificate, though it may lack a hint or a solution, and the hard stages of
the diversity filter; what it is about is not compared. What is admitted becomes one shard, what is
refused is kept in it with stage and reason.
"""

from dataclasses import replace
from pathlib import Path

from envgen.hub import SCHEME
from envgen.pools import hub, local, packages, released
from envgen.pools.limits import Limits
from envgen.pools.pool import Home, Imported, Pool
from envgen.pools.work import import_pool
from sandbox import printable
from spadekit.errors import BadInput


def open_pool(uri: str, limits: Limits, *, believed: bool = False) -> Pool:
    """Return the pool that ``import`` was given. Raises ``BadInput``.

    ``uri`` is a folder or file, ``hf://USER/NAME[@REVISION]``, ``reasoning-gym[:TASKS]`` or
    ``rlve-gym[:TASKS]``. ``believed``: take the certificates of a release at their word; what is no
    release is refused then.
    """
    pool, release = _open(uri, limits)
    if release:
        return released.as_pool(release, limits, believed=believed)
    if believed:
        raise BadInput(
            f"{uri}: --trust is for releases of Spadework, and this is none; leave it out"
        )
    return pool


def _open(uri: str, limits: Limits) -> tuple[Pool, released.Release | None]:
    if uri.startswith(SCHEME):
        data = hub.find(uri)
        # With its tag, be it a release or not: one that was a release may be none after it was moved.
        asked = released.tagged(uri)
        pool = Pool(data.uri, lambda: hub.read_hub(data, limits), asked=asked)
        return pool, released.on_hub(data, limits, uri)
    if named := packages.split(uri):
        package, tasks = named
        read = packages.read_package
        return Pool(uri, lambda: read(package, tasks, limits.source), alike=True), None
    path = Path(uri)
    try:
        name = printable(path.resolve().name)
        path.exists()
        # Only the name: where a file lay on somebody's machine is not for a shard that may be published.
        pool = Pool(f"file:{name}", lambda: local.read(path, limits))
        release = released.in_folder(path, pool.uri)
        return (pool if release else replace(pool, note=local.note(path))), release
    except (OSError, RuntimeError) as error:  # too long a name, a circle of links
        raise BadInput(f"{uri}: cannot be read: {error}") from None


__all__ = ["Home", "Imported", "Limits", "Pool", "import_pool", "open_pool"]
