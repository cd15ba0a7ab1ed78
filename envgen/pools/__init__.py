"""Bringing in pools of environments that others made: folders, tables, data sets, task packages.

Every candidate passes the certificate, though it may lack a hint or a solution, and the hard stages of
the diversity filter; what it is about is not compared. What is admitted becomes one shard, what is
refused is kept in it with stage and reason.
"""

from pathlib import Path

from envgen.hub import SCHEME
from envgen.pools import hub, local, packages, released
from envgen.pools.work import Entry, Home, Imported, Pool, import_pool
from sandbox import printable
from spadekit.errors import BadInput


def open_pool(uri: str, largest: int, recheck: bool = False) -> Pool:
    """Return the pool that ``import`` was given. Raises ``BadInput``.

    ``uri`` is a folder or file, ``hf://USER/NAME[@REVISION]``, ``reasoning-gym[:TASKS]`` or
    ``rlve-gym[:TASKS]``; ``largest`` is the most bytes of a source. ``recheck``: certify what a release
    vouches for once more.
    """
    if uri.startswith(SCHEME):
        data = hub.find(uri)
        if released.NAME in data.files and released.is_release(folder := hub.fetch(data)):
            return released.open_release(folder, data.uri, largest, recheck, asked=uri)
        return Pool(data.uri, lambda: hub.read_hub(data, largest))
    if named := packages.split(uri):
        package, tasks = named
        return Pool(uri, lambda: packages.read_package(package, tasks, largest), alike=True)
    path = Path(uri)
    try:
        name = printable(path.resolve().name)
        path.exists()
    except (OSError, RuntimeError) as error:  # too long a name, a circle of links
        raise BadInput(f"{uri}: cannot be read: {error}") from None
    if released.is_release(path):
        return released.open_release(path, f"file:{name}", largest, recheck)
    # Only the name: where a file lay on somebody's machine is not for a shard that may be published.
    return Pool(f"file:{name}", lambda: local.read(path, largest))


__all__ = ["Entry", "Home", "Imported", "Pool", "import_pool", "open_pool"]
