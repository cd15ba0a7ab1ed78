"""What a round tells while it works: one event for each step done, for terminals and streams alike.

    begun ─► designed ─► certified ─► decided ─► played ... ─► measured ─► published
                 followed ─┘

An event carries the counters of the whole piece of work, so whoever missed some knows as much.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from solver.policy import Bill, Billed, Policy

Step = Literal[
    "begun", "designed", "followed", "certified", "decided", "played", "measured", "published"
]


@dataclass(frozen=True)
class Progress:
    """Where a piece of work stands after one more step of it."""

    step: Step
    shard: int
    """The shard that will be published; 0: stored environments are measured again."""
    designs: int
    """Designs that will be written; 0 when measuring again."""
    designed: int
    followed: int
    """Follow-ups that were written to designs that a check refused."""
    certified: int
    """Designs that a certificate was made for, whatever it says."""
    decided: int
    """Designs compared with what is known, duplicates included."""
    to_measure: int
    """Environments that will be measured, as far as is known yet."""
    measured: int
    fell: Mapping[str, int]
    """Stage -> designs that went no further there."""
    plays: int
    tokens: int
    """Tokens that the policy sampled: designs and replies, killed tries included where an endpoint
    counts them."""
    read: int | None
    """Tokens that the endpoint read, by its own count; None without an endpoint."""
    cost: float | None
    """Of what it read and sampled; None without prices."""
    seconds: float
    """That the work has taken, killed tries of it included."""

    @property
    def ended(self) -> int:
        """Designs that nothing more will be done for."""
        before = sum(count for stage, count in self.fell.items() if stage != "probe")
        return self.measured + before


Sink = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """Hear of progress and say nothing."""


def billing(policy: Policy, earlier: Bill = Bill()) -> Callable[[], Bill] | None:  # noqa: B008
    """Return what tells the bill from now on, on top of an earlier one; None without an endpoint."""
    if not isinstance(policy, Billed):
        return None
    began = policy.bill()
    return lambda: earlier + policy.bill().since(began)


class Meter:
    """Counts the steps of one piece of work and tells a sink of each."""

    def __init__(
        self,
        tell: Sink,
        *,
        shard: int = 0,
        designs: int = 0,
        to_measure: int = 0,
        spent_s: float = 0.0,
        bill: Callable[[], Bill] | None = None,
    ) -> None:
        self._tell = tell
        self._shard, self._designs, self._to_measure = shard, designs, to_measure
        self._steps: Counter[Step] = Counter()
        self._fell: Counter[str] = Counter()
        self._plays = self._tokens = 0
        self._bill = bill
        self._began = time.monotonic() - spent_s

    def step(self, step: Step, *, fell: str = "", plays: int = 0, tokens: int = 0) -> None:
        """Note one step; ``fell`` is the stage at which the design went no further, if it did."""
        self._steps[step] += 1
        self._plays += plays
        self._tokens += tokens
        if fell:
            self._fell[fell] += 1
        elif step == "decided":
            self._to_measure += 1
        bill = self._bill() if self._bill else None
        self._tell(
            Progress(
                step=step,
                shard=self._shard,
                designs=self._designs,
                designed=self._steps["designed"],
                followed=self._steps["followed"],
                certified=self._steps["certified"],
                decided=self._steps["decided"],
                to_measure=self._to_measure,
                measured=self._steps["measured"],
                fell=dict(self._fell),
                plays=self._plays,
                tokens=bill.sampled if bill else self._tokens,
                read=bill.read if bill else None,
                cost=bill.cost if bill else None,
                seconds=time.monotonic() - self._began,
            )
        )
