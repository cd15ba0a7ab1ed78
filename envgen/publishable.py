"""Whether a run may publish shards into a store; asked once, by whatever publishes any."""

from pathlib import Path

from memory import Store
from spadekit.errors import BadInput


def require_publishable(store: Store, run: str, home: Path) -> None:
    """Raise ``BadInput`` for a store in ``home`` that holds another run, or has lost a shard.

    The tables still know a lost one: another shard under its number would mix with its rows.
    """
    if lost := store.lost():
        raise BadInput(
            f"shard {lost[0]} of the store in {home} was published and is not there any more: restore "
            f"shards/{lost[0]:06d} from a copy, or let the tables forget it: `spadework memory rebuild`"
        )
    for manifest in store.shards():
        other = manifest.meta.get("run", run)
        if other != run:
            raise BadInput(
                f"the store in {home} holds run `{other}`: go on with --run {other}, or begin "
                f"`{run}` in another --home"
            )
