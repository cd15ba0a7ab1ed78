"""Runs an untrusted environment: contract, jail, episodes, pool. Nothing of it runs in our process.

What is public is listed here. ``docs/sandbox.md`` says what is covered and what is not.
"""

from sandbox.config import Isolation, Limits, SandboxConfig
from sandbox.contract import (
    JailInfo,
    Message,
    Observation,
    Playable,
    Playing,
    Step,
    action_bytes,
    episode_return,
    game_action,
)
from sandbox.episode import Episode
from sandbox.faults import REASONS, STAGES, EnvironmentFault, SandboxFault, printable
from sandbox.jail import Jail
from sandbox.pool import Pool
from sandbox.sandbox import Sandbox
from sandbox.source import check_source

__all__ = [
    "REASONS",
    "STAGES",
    "EnvironmentFault",
    "Episode",
    "Isolation",
    "Jail",
    "JailInfo",
    "Limits",
    "Message",
    "Observation",
    "Playable",
    "Playing",
    "Pool",
    "Sandbox",
    "SandboxConfig",
    "SandboxFault",
    "Step",
    "action_bytes",
    "check_source",
    "episode_return",
    "game_action",
    "printable",
]
