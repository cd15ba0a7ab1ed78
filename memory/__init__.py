"""The environment store: records, shards, tables that are searched, the diversity filter."""

from memory.config import MemoryConfig
from memory.examples import Examples
from memory.releases import Release
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
from memory.store import Store
from memory.view import Frames, View, open

__all__ = [
    "DesignRecord",
    "EnvironmentRecord",
    "Examples",
    "Frames",
    "Manifest",
    "MemoryConfig",
    "PlayRecord",
    "Release",
    "ShardData",
    "StandingRecord",
    "Store",
    "View",
    "environment_id",
    "measure",
    "open",
    "record_id",
    "status",
]
