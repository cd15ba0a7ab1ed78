"""Gymnasium ids for stored and published environments: ``gymnasium.make("spadework/<env id>-v0")``.

    import gymnasium
    from envgen.registry import load_environments
    env = gymnasium.make(load_environments("USER/NAME", revision="v1.0.0")[0])

plays the first environment of a release, in its sandbox; the ids follow the rows of its table.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import gymnasium

from envgen.hub import SCHEME
from memory import Store
from sandbox import SandboxConfig
from spadekit.errors import BadInput

if TYPE_CHECKING:
    from envgen.pools.limits import Limits
    from envgen.pools.released import Release


def register(store: Store | Path | str) -> list[str]:
    """Register every environment of a store with Gymnasium and return the ids, oldest first.

    Registering again is harmless. The source is bound to the id when it is registered, so an
    environment stays playable while the store is compacted or moved.
    """
    opened = store if isinstance(store, Store) else Store.open(store)
    return [_register(record.id, record.source) for record in opened.environments()]


def load_environments(
    release: str | Path, revision: str | None = None, most_mb: int = 2_000
) -> list[str]:
    """Register the environments of a release with Gymnasium and return the ids, in its order.

    ``release`` is a data set of the Hugging Face Hub, as USER/NAME or ``hf://USER/NAME``, or a folder that
    ``publish --dry-run`` wrote. USER/NAME is always the Hub's, whatever lies in the working folder: write
    a folder as ``./NAME``, as an absolute path or as a ``Path``. ``revision`` is the tag, or a whole
    commit; that of a folder is its tag. Files of more than ``most_mb`` megabytes are not fetched.

    Every file is compared with its sum, every id with its program. Nothing is run before
    ``gymnasium.make``, and then in a sandbox. Raises ``BadInput``.
    """
    from envgen.pools import released
    from envgen.pools.limits import MB, Limits

    limits = Limits(SandboxConfig().max_source_bytes, most_mb * MB)
    if isinstance(release, str) and _is_address(release):
        found = _fetched(release, revision, limits)
    else:
        found = _in_folder(release, revision)
    names = []
    for place, row, wrong in released.environments(found, limits):
        if wrong:
            raise BadInput(f"{found.uri}: {place}: {wrong}")
        names.append(_register(row["id"], row["source"]))
    return list(dict.fromkeys(names))


def _is_address(text: str) -> bool:
    """Whether a text names a data set of the Hub: it says so, or is USER/NAME and no path of another form."""
    return text.startswith(SCHEME) or (
        text.count("/") == 1 and text[0] not in "./~" and text[-1] != "/"
    )


def _in_folder(folder: str | Path, revision: str | None) -> "Release":
    from envgen.pools import released

    found = released.in_folder(Path(folder), str(folder))
    if found is None:
        raise BadInput(
            f"{folder}: no release of Spadework lies there; a data set of the Hub is USER/NAME"
        )
    if revision and revision != found.held.tag:
        raise BadInput(f"{folder}: this is release {found.held.tag}, not {revision}")
    return found


def _fetched(release: str, revision: str | None, limits: "Limits") -> "Release":
    from envgen.pools import hub, released

    address = SCHEME + release.removeprefix(SCHEME) + (f"@{revision}" if revision else "")
    try:
        found = released.on_hub(hub.find(address), limits, address)
        if found is None:
            raise BadInput(f"{address}: no release of Spadework; `spadework import` may take it")
    except BadInput as error:
        if Path(release).is_dir():
            raise BadInput(f"{error}; the folder of that name is ./{release}") from None
        raise
    return found


def _register(identity: str, source: str) -> str:
    name = f"spadework/{identity}-v0"
    if name not in gymnasium.registry:
        gymnasium.register(
            id=name,
            entry_point="sandbox.gym:SandboxedEnv",
            kwargs={"source": source},
            # The host's own turn cap and checks apply; Gymnasium's wrappers would only repeat them,
            # and its checker warns of every wrapper.
            order_enforce=False,
            disable_env_checker=True,
        )
    return name
