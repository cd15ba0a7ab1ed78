"""What a round's monitors for reward hacks left in its shard's manifest (see ``envgen.monitors``)."""

from collections.abc import Mapping
from typing import Any


def line(meta: Mapping[str, Any]) -> str:
    """Return the shares above 0 in words, "" when there are none or nothing was monitored."""
    figures: Mapping[str, Any] = (meta.get("monitors") or {}).get("figures") or {}
    return ", ".join(
        f"{name} {found['share']:.2f}" for name, found in figures.items() if found.get("share")
    )


def alarms(meta: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the alarms that were raised under the limits then set."""
    return tuple((meta.get("monitors") or {}).get("alarms") or ())
