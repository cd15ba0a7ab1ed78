"""What the arms came to in sentences: nobody should have to read intervals to learn what is not shown. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bench.ablation.arms import ARMS
from bench.ablation.outcome import Lead, Trained, gain, lead, lead_abroad, leads, together
from bench.heldout.dataset import EMBEDDED, QUESTIONS, SEEDS
from bench.heldout.results import DECODINGS, Decoding, Result
from bench.statistics import Estimate, clustered_mean
from bench.text import number_text, signed_text

Arms = Mapping[str, Sequence[Trained]]
FIRST = "self_play"
"""The arm that the others are compared with."""
CONTRASTS = (("frozen", "fixed_pool"), ("self_play_uniform", "fixed_pool"))
"""Further pairs that differ in one thing: whether new tasks keep coming, and who designs them."""
UNTAUGHT = (SEEDS, QUESTIONS)
"""Families of the held-out set that ships of which the policy was taught nothing."""
TITLES = {arm.name: arm.title for arm in ARMS}


def method(arms: Arms) -> str:
    """Return how all of it was measured; the arms must not be empty."""
    every = [one for several in arms.values() for one in several]
    seeds = sorted({one.seed for one in every})
    how, count = every[0].end.protocol, every[0].end.estimate("sampled").clusters
    return (
        f"{_count(len(arms), 'arm')}, each with {_count(len(seeds), 'seed')} "
        f"({', '.join(str(seed) for seed in seeds)}) and {_count(every[0].rounds, 'training step')} from the "
        f"same starting policy. Judged is the last version, never the best one, on {count} held-out "
        f"environments (`{how.data}`{_left_out(every[0])}): {_count(how.plays, 'play')} of each at temperature "
        f"{how.temperature:g} and {how.greedy_plays} greedy, without the hint, on the same instances for all. "
        "Intervals are 95 %, clustered by environment: they say how environments vary, not how "
        "another seed would go. For that, look how far the seeds of an arm are from each other. Measured on "
        f"{_machine(every[0].end.machine)}."
    )


def _left_out(one: Trained) -> str:
    return f", without {one.left_out} that an arm designed too" if one.left_out else ""


def learned(arms: Arms) -> list[str]:
    """Return a sentence for each arm: what training did to its held-out return."""
    return [
        f"{TITLES[name]}: "
        + "; ".join(
            f"{decoding} {number_text(start_of(several, decoding).mean)} "
            f"to {number_text(end_of(several, decoding).mean)}, "
            f"{signed_text(gain(several, decoding))}{_seeds(several, decoding)}, "
            f"{_shown(gain(several, decoding), 'a gain', 'a loss', 'no change is shown')}"
            for decoding in DECODINGS
        )
        + "."
        for name, several in arms.items()
    ]


def compared(arms: Arms) -> list[str]:
    """Return a sentence for each arm below full self-play, and for each of ``CONTRASTS``."""
    pairs = [(FIRST, name) for name in arms if name != FIRST]
    return [
        f"{TITLES[first]} above {TITLES[other]}: "
        + "; ".join(
            part
            for where, of in places(arms[first], arms[other])
            if (part := _lead(arms[first], arms[other], where, of))
        )
        + "."
        for first, other in (*pairs, *CONTRASTS)
        if first in arms and other in arms
    ]


def places(first: Sequence[Trained], other: Sequence[Trained]) -> list[tuple[str, Lead]]:
    """Return where two arms can be compared, in words and as a function."""
    found: list[tuple[str, Lead]] = [("held out", lead)]
    if all(one.others for one in (*first, *other)):
        found.append(("on other arms' late designs", lead_abroad))
    return found


def _lead(first: Sequence[Trained], other: Sequence[Trained], where: str, of: Lead) -> str:
    found = {decoding: of(first, other, decoding) for decoding in DECODINGS}
    if any(one.mean is None for one in found.values()):
        return ""
    told = [
        f"{decoding} {signed_text(one)}{_agreed(one, leads(first, other, decoding, of))}"
        for decoding, one in found.items()
    ]
    return f"{where} {', '.join(told)}"


def _agreed(ahead: Estimate, seeds: Sequence[float]) -> str:
    """Return the seeds' leads and what is shown: an interval without 0 is not enough, the seeds must agree."""
    said = f", seeds {' '.join(f'{one:+.3f}' for one in seeds)}, " if len(seeds) > 1 else ", "
    shown = _shown(ahead, "higher", "lower", "")
    sign = -1 if shown == "lower" else 1
    if shown and any(sign * one <= 0 for one in seeds):
        return f"{said}no difference is shown: the seeds disagree"
    return said + (shown or "no difference is shown")


def parts(arm: Sequence[Trained]) -> dict[str, list[Trained]]:
    """Return an arm as judged on each part of the held-out set that ships; of other sets there are none."""
    if any(one.end.protocol.data != EMBEDDED for one in arm):
        return {}
    found: dict[str, list[Trained]] = {}
    for name in ("grammar", *UNTAUGHT):
        there = [replace(one, results=_within(one.results, name)) for one in arm]
        if all(one.end.environments for one in there):
            found[name] = there
    return found


def _within(results: Sequence[Result], part: str) -> tuple[Result, ...]:
    return tuple(
        replace(
            result,
            environments=tuple(
                one
                for one in result.environments
                if (one.family if one.family in UNTAUGHT else "grammar") == part
            ),
        )
        for result in results
    )


def start_of(arm: Sequence[Trained], decoding: Decoding) -> Estimate:
    """Return the starting policy's mean return over the seeds' plays."""
    return clustered_mean(together([one.start for one in arm], decoding))


def end_of(arm: Sequence[Trained], decoding: Decoding) -> Estimate:
    """Return the last versions' mean return over the seeds' plays."""
    return clustered_mean(together([one.end for one in arm], decoding))


def _seeds(arm: Sequence[Trained], decoding: Decoding) -> str:
    """Return the smallest and the largest change of a seed as text; "" for fewer than two seeds."""
    found = [gain([one], decoding).mean for one in arm]
    known = [value for value in found if value is not None]
    return f", seeds {min(known):+.3f} to {max(known):+.3f}" if len(known) > 1 else ""


def _shown(value: Estimate, above: str, below: str, neither: str) -> str:
    if value.low is not None and value.low > 0:
        return above
    return below if value.high is not None and value.high < 0 else neither


def _machine(about: Mapping[str, Any]) -> str:
    return f"{about['processor']}, {_count(about['cores'], 'core')}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
