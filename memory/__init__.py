"""The environment store: records, shards, tables that are searched, the diversity filter."""

from memory.config import MemoryConfig
from memory.schema import (
    DesignRecord,
    EnvironmentRecord,
    PlayRecord,
    StandingRecord,
    environment_id,
    record_id,
)
from memory.shards import Manifest, ShardData
from memory.standing import measure, status
from memory.store import Examples, Store

__all__ = [
    "DesignRecord",
    "EnvironmentRecord",
    "Examples",
    "Manifest",
    "MemoryConfig",
    "PlayRecord",
    "ShardData",
    "StandingRecord",
    "Store",
    "environment_id",
    "measure",
    "record_id",
    "status",
]
