"""Gymnasium ids for the environments of a store: ``gymnasium.make("spadework/<env id>-v0")``."""

from pathlib import Path

import gymnasium

from memory import EnvironmentRecord, Store


def register(store: Store | Path | str) -> list[str]:
    """Register every environment of a store with Gymnasium and return the ids, oldest first.

    Registering again is harmless. The source is bound to the id when it is registered, so an
    environment stays playable while the store is compacted or moved.
    """
    opened = store if isinstance(store, Store) else Store.open(store)
    return [_register(record) for record in opened.environments()]


def _register(record: EnvironmentRecord) -> str:
    name = f"spadework/{record.id}-v0"
    if name not in gymnasium.registry:
        gymnasium.register(
            id=name,
            entry_point="sandbox.gym:SandboxedEnv",
            kwargs={"source": record.source},
            # The host's own turn cap and checks apply; Gymnasium's wrappers would only repeat them,
            # and its checker warns of every wrapper.
            order_enforce=False,
            disable_env_checker=True,
        )
    return name
