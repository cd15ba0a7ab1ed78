"""Section ``[ladder]`` of a recipe."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LadderConfig:
    """How policy versions are measured on the shards of their run.

    ``environments``: a shard's sample (all, where it has fewer). ``floor``: plays of every version on
    every shard, on the same instances for all versions. ``plays``: plays in all, those of the floor
    among them (0: twice the floor); what is above the floor goes where it tells most. ``waves``: how
    often that is thought over. ``every``: which policy versions play, every so many, the first and the
    last. ``seed``: root of samples, instances and replies; another seed is another measurement.
    """

    environments: int = 12
    floor: int = 4
    plays: int = 0
    waves: int = 4
    every: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("environments", "floor", "waves", "every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        if self.plays < 0:
            raise ValueError("plays must not be negative; 0 is twice the floor")
