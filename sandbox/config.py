"""The settings of the sandbox: isolation, limits, and how many jails are kept."""

import math
from dataclasses import dataclass
from typing import Final, Literal

Isolation = Literal["nsjail", "process"]

# One frame is one SOCK_SEQPACKET message, and an unprivileged socket holds no more than this.
LARGEST_FRAME: Final = 196_608


@dataclass(frozen=True)
class Limits:
    """What one environment may use. Seconds are wall-clock; sizes are bytes unless named ``_mb``.

    load_s     start of the jail's program to a described class
    reset_s    opening one episode: running the source again in its own process, then ``reset``
    step_s     one ``step`` or ``solution``
    episode_s  an episode's whole life, the policy's thinking included
    memory_mb  address space that one episode may take on top of the interpreter
    """

    load_s: float
    reset_s: float
    step_s: float
    episode_s: float
    memory_mb: int
    frame_bytes: int
    log_bytes: int
    max_source_bytes: int

    def __post_init__(self) -> None:
        for name in ("load_s", "reset_s", "step_s", "episode_s"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} = {value} must be a positive number of seconds")
        for name in ("load_s", "reset_s", "step_s"):
            if getattr(self, name) > self.episode_s:
                raise ValueError(
                    f"{name} must not exceed episode_s = {self.episode_s}; raise episode_s"
                )
        if not 16 <= self.memory_mb <= 65_536:
            raise ValueError(f"memory_mb = {self.memory_mb} must lie between 16 and 65536")
        if not 4_096 <= self.frame_bytes <= LARGEST_FRAME:
            raise ValueError(f"frame_bytes must lie between 4096 and {LARGEST_FRAME}")
        if not 0 <= self.log_bytes <= self.frame_bytes // 8:
            raise ValueError("log_bytes must lie between 0 and an eighth of frame_bytes")
        if not 1 <= self.max_source_bytes <= LARGEST_FRAME:
            raise ValueError(f"max_source_bytes must lie between 1 and {LARGEST_FRAME}")

    @property
    def longest_action(self) -> int:
        """Most bytes of an action as JSON (``contract.action_bytes``): half of a frame.

        What is longer is the player's fault, whoever it is: sent on, it would fail as the environment's.
        """
        return self.frame_bytes // 2


@dataclass(frozen=True)
class SandboxConfig:
    """The ``[sandbox]`` section.

    isolation       "nsjail", or "process" (weaker, must be asked for by name)
    python          interpreter for the inside of the jail; "" chooses one (see ``interpreter``)
    jail_memory_mb  memory cgroup of one jail with all its episodes, where the host gives cgroups
    jail_cpus       cpu cgroup of one jail, in cores
    jail_episodes   most episodes open in one jail at once
    pool_jails      jails that a ``Pool`` keeps
    parallel_starts jails being started at once
    spare_jails     jails without a source that a ``Sandbox`` keeps ready once it opens many
    """

    isolation: Isolation = "nsjail"
    load_s: float = 5.0
    reset_s: float = 3.0
    step_s: float = 3.0
    episode_s: float = 900.0
    memory_mb: int = 256
    frame_bytes: int = 131_072
    log_bytes: int = 8_192
    max_source_bytes: int = 65_536
    jail_memory_mb: int = 2_048
    jail_cpus: float = 4.0
    jail_episodes: int = 256
    pool_jails: int = 16
    parallel_starts: int = 4
    spare_jails: int = 2
    python: str = ""

    def __post_init__(self) -> None:
        if self.isolation not in ("nsjail", "process"):
            raise ValueError(f"isolation = {self.isolation!r} must be 'nsjail' or 'process'")
        limits = self.limits
        if self.jail_memory_mb < limits.memory_mb:
            raise ValueError("jail_memory_mb must not be below memory_mb; raise it")
        if not (math.isfinite(self.jail_cpus) and self.jail_cpus >= 0.1):
            raise ValueError("jail_cpus must be at least 0.1")
        if not 0 <= self.spare_jails <= 64:
            raise ValueError("spare_jails must lie between 0 and 64")
        for name in ("jail_episodes", "pool_jails", "parallel_starts"):
            if not 1 <= getattr(self, name) <= 4_096:
                raise ValueError(f"{name} must lie between 1 and 4096")

    @property
    def limits(self) -> Limits:
        """The limits of one environment, checked."""
        return Limits(
            self.load_s,
            self.reset_s,
            self.step_s,
            self.episode_s,
            self.memory_mb,
            self.frame_bytes,
            self.log_bytes,
            self.max_source_bytes,
        )
