"""What a person sees of a run at work: bars on a terminal, a plain line now and then anywhere else."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from envgen.progress import Progress, Sink
from spadekit.report import Report

LINE_EVERY_S = 15.0
"""Between two plain lines: a log should say that something happens, not all that happens."""
LITTLE = 0.1
"""After less than this share of a round its pace says nothing."""


class Pace:
    """How far a run of several rounds is, and when it should end at the pace so far."""

    def __init__(self, rounds: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.rounds = rounds
        self.published = 0
        self._clock = clock
        self._began = clock()

    def hear(self, now: Progress) -> None:
        """Take a round's progress into account."""
        if now.step == "begun":
            self._began -= (
                now.seconds
            )  # what killed tries of it did counts as done: so does their time
        elif now.step == "published":
            self.published += 1

    def done(self, now: Progress) -> float:
        """Return the share of the work that is done: writing a design is half of its way."""
        here = 0.0
        if now.step != "published" and now.designs:
            here = (min(now.designed, now.designs) + min(now.ended, now.designs)) / now.designs / 2
        return min(1.0, (self.published + here) / self.rounds)

    def left_s(self, now: Progress) -> float | None:
        """Return the seconds that the rest should take; None while there is little to go by."""
        done = self.done(now)
        if done < LITTLE / self.rounds:
            return None
        return (self._clock() - self._began) * (1 - done) / done


@contextmanager
def shown(report: Report, rounds: int) -> Iterator[Sink]:
    """Give a sink that shows ``rounds`` rounds at work on stderr while the block runs."""
    pace = Pace(rounds)
    if not report.err.is_terminal:
        yield Lines(pace, report.note)
        return
    with report.progress() as bars:
        designs = bars.add_task("designs", total=None, note="")
        measured = bars.add_task("measured", total=None, note="")

        def show(now: Progress) -> None:
            pace.hear(now)
            title = _title(now, pace)
            bars.update(
                designs,
                description=f"{title}: designs",
                total=now.designs,
                completed=min(max(now.certified, now.ended), now.designs),
                note=funnel(now.fell),
            )
            bars.update(
                measured,
                description=f"{title}: measured",
                total=now.to_measure or None,
                completed=now.measured,
                note=", ".join(filter(None, (rates(now), _left(pace.left_s(now))))),
            )

        yield show


class Lines:
    """A sink that says one line every so often."""

    def __init__(
        self, pace: Pace, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._pace, self._say, self._clock = pace, say, clock
        self._last = clock()

    def __call__(self, now: Progress) -> None:
        """Take one event."""
        self._pace.hear(now)
        if now.step == "published" or self._clock() - self._last < LINE_EVERY_S:
            return
        self._last = self._clock()
        parts = (
            f"{_title(now, self._pace)}: {now.designed}/{now.designs} designed, "
            f"{now.measured}/{now.to_measure} measured",
            funnel(now.fell),
            rates(now),
            _left(self._pace.left_s(now)),
        )
        self._say("; ".join(filter(None, parts)))


def funnel(fell: Mapping[str, int]) -> str:
    """Return how many designs fell at which stage, the commonest first."""
    order = sorted(fell.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} fell at {stage}" for stage, count in order)


def rates(now: Progress) -> str:
    """Return plays and tokens so far, plays per second, and what an endpoint has read and costs."""
    speed = now.plays / now.seconds if now.seconds > 0 else 0.0
    read = "" if now.read is None else f" ({now.read} read)"
    cost = "" if now.cost is None else f", cost {now.cost:.4f}"
    return f"{now.plays} plays, {speed:.1f} a second, {now.tokens} tokens{read}{cost}"


def _title(now: Progress, pace: Pace) -> str:
    nth = min(pace.published + 1, pace.rounds)
    return f"round {now.shard}" + (f" ({nth} of {pace.rounds})" if pace.rounds > 1 else "")


def _left(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 100:
        return f"about {seconds:.0f} s left"
    minutes = seconds / 60
    return f"about {minutes:.0f} min left" if minutes < 100 else f"about {minutes / 60:.0f} h left"
