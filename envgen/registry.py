"""Gymnasium ids for stored and published environments: ``gymnasium.make("spadework/<env id>-v0")``.

    import gymnasium
    from envgen.registry import load_environments
    env = gymnasium.make(load_environments("USER/NAME", revision="v1.0.0")[0])

plays the first environment of a release, in its sandbox; the ids follow the rows of its table.
"""

from pathlib import Path

import gymnasium

from envgen.hub import SCHEME
from memory import Store
from spadekit.errors import BadInput


def register(store: Store | Path | str) -> list[str]:
    """Register every environment of a store with Gymnasium and return the ids, oldest first.

    Registering again is harmless. The source is bound to the id when it is registered, so an
    environment stays playable while the store is compacted or moved.
    """
    opened = store if isinstance(store, Store) else Store.open(store)
    return [_register(record.id, record.source) for record in opened.environments()]


def load_environments(release: str | Path, revision: str | None = None) -> list[str]:
    """Register the environments of a release with Gymnasium and return the ids, in its order.

    ``release`` is USER/NAME on the Hugging Face Hub or a folder that ``publish --dry-run`` wrote;
    ``revision`` is the tag, or a commit. Every file is compared with its sum, every id with its
    program. Nothing is run before ``gymnasium.make``, and then in a sandbox. Raises ``BadInput``.
    """
    from envgen.pools import hub, released
    from envgen.publish import manifest

    folder = Path(release)
    if not manifest.is_release(folder):
        address = str(release).removeprefix(SCHEME) + (f"@{revision}" if revision else "")
        folder = hub.fetch(hub.find(f"{SCHEME}{address}"))
        if not manifest.is_release(folder):
            raise BadInput(f"{address}: no release of Spadework; `spadework import` may take it")
    names = []
    for place, row in released.environments(folder, manifest.read(folder)):
        if not released.genuine(row):
            raise BadInput(f"{release}: {place}: its id is not that of its program")
        names.append(_register(row["id"], row["source"]))
    return names


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
