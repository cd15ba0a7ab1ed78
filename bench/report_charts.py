"""The charts of a run's report: which figures, by what name, side by side with which."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from markupsafe import Markup

from bench.breakdown import outside, part, round_seconds, stage_shares, step_seconds, trained_on
from bench.charts import Point
from bench.figures import HeldoutFigures, RoundFigures, RunFigures
from bench.plots import Line, Plots
from bench.statistics import Estimate
from memory.stats import BINS

SHARE = (0.0, 1.0)
ROLES = {"solver": 0, "designer": 1}
"""Each role has one colour on the whole page."""
ROUND, VERSION = "round", "policy version"
Step = TypeVar("Step", RoundFigures, HeldoutFigures)


@dataclass(frozen=True)
class Watched:
    """A chart of training metrics that both roles have, a colour each.

    ``names`` are the metrics that may stand for it (the solver's reward is called its return), with
    ``beside`` a second one is drawn dashed, and called so.
    """

    title: str
    names: tuple[str, ...]
    beside: tuple[str, str] | None = None
    note: str = ""


PAID = Watched(
    "Return and reward in training",
    ("return", "reward"),
    note="Of the samples trained on: the solver's mean return, the designer's mean reward.",
)
UPDATES = (
    Watched(
        "Gradient norm", ("grad_norm",), note="Before clipping, mean of the steps of a version."
    ),
    Watched(
        "Tokens out of the clipping bounds",
        ("clip_high_share",),
        ("clip_low_share", "below"),
        "Share of tokens without a gradient because their ratio rose above the upper bound, or fell below "
        "the lower one.",
    ),
    Watched("Entropy", ("entropy",), note="Nats a token, over the whole vocabulary."),
    Watched("Loss", ("loss",)),
    Watched(
        "KL to the policy that sampled",
        ("kl_behaviour",),
        note="Nats a token; far from 0: the samples are of another policy than the one trained.",
    ),
    Watched(
        "Groups with an advantage",
        ("groups_live",),
        ("groups_dropped", "left out"),
        "Groups whose samples were not all paid the same; left out: groups that lost every sample.",
    ),
)
AGE = (
    Watched(
        "Staleness",
        ("lag",),
        ("lag_most", "most"),
        "Policy versions between the sampling of a sample and its training.",
    ),
    Watched(
        "Importance weight",
        ("importance",),
        note="Truncated; 1 for samples of the very weights trained.",
    ),
    Watched("Importance weights truncated", ("importance_cut_share",), note="Share of tokens."),
)
SAMPLES = (
    Watched("Length of a sample", ("length",), ("length_most", "most"), "Sampled tokens."),
    Watched(
        "Samples cut short", ("cut_share",), note="By the token limit or the end of the context."
    ),
    Watched(
        "Tokens sampled",
        ("tokens",),
        ("tokens_trained", "with an advantage"),
        "Of a version's samples.",
    ),
)
PLAIN = ("parent", "shard", "round", "environments", "replayed")
"""Figures of steps that are told in tables, not drawn."""


class Charts:
    """Draws the charts of one page. A method gives the charts of a section, "" when it has none."""

    def __init__(self, figures: RunFigures) -> None:
        self.figures = figures
        self.plots = Plots()
        self.drawn: set[str] = set()
        """Names of the training metrics that have been drawn."""

    def heldout(self) -> Markup:
        """What no version was trained on."""
        heldout = self.figures.heldout
        later = heldout[1:]
        return Markup("").join(
            [
                self.plots.lines(
                    "Held-out return",
                    [
                        _line("training temperature", 0, heldout, lambda one: one.sampled),
                        _line("greedy", 2, heldout, lambda one: one.greedy),
                    ],
                    x_label=VERSION,
                    y_range=SHARE,
                ),
                self.plots.lines(
                    "Change of held-out return since the first version, paired",
                    [
                        _line("training temperature", 0, later, lambda one: one.change_sampled),
                        _line("greedy", 2, later, lambda one: one.change_greedy),
                    ],
                    x_label=VERSION,
                    note="An interval that holds 0 shows no change.",
                ),
            ]
        )

    def roles(self) -> Markup:
        """What both roles are paid for."""
        rounds = self.figures.rounds
        return Markup("").join(
            [
                self.plots.lines(
                    "Solver: return on each round's new environments",
                    [
                        _line("without the hint", 0, rounds, lambda one: one.return_unhinted),
                        _line("with it", 3, rounds, lambda one: one.return_hinted),
                    ],
                    y_range=SHARE,
                    x_label=ROUND,
                ),
                self.plots.lines(
                    "Designer: regret of each round's new environments",
                    [_line("regret", 1, rounds, lambda one: one.regret)],
                    x_label=ROUND,
                    note="The distance of the two lines of the solver's return.",
                ),
                self._watched(PAID),
                self.plots.lines(
                    "Designer: reward over all designs",
                    [_line("reward", 1, rounds, lambda one: one.designer_reward)],
                    note="Invalid designs count with 0, duplicates and faults of ours not at all.",
                    x_label=ROUND,
                ),
            ]
        )

    def designs(self) -> Markup:
        """What became of the designs."""
        rounds = self.figures.rounds
        return Markup("").join(
            [
                self.plots.lines(
                    "Share of designs",
                    [
                        _line("valid", 2, rounds, lambda one: one.valid),
                        _line("admitted", 1, rounds, lambda one: part(one.admitted, one.designs)),
                    ],
                    y_range=SHARE,
                    x_label=ROUND,
                    note="Valid ones pass the certificate; admitted ones are no duplicates besides.",
                ),
                self.plots.heat(
                    "Where designs end",
                    [one.round for one in rounds],
                    stage_shares(rounds),
                    x_label=ROUND,
                    note="Share of the round's designs, from reading (top) to admission (bottom).",
                ),
                self.plots.lines(
                    "Learnable share",
                    [_line("learnable", 1, rounds, lambda one: one.learnable)],
                    y_range=SHARE,
                    x_label=ROUND,
                    note="Of the admitted environments: return without the hint in [0.15, 0.85].",
                ),
                self.plots.lines(
                    "Diversity: Vendi score / n",
                    [_line("Vendi / n", 1, rounds, lambda one: one.vendi_share)],
                    y_range=SHARE,
                    note="1: all of a round's environments mean different things; 1 / n: all the same.",
                    x_label=ROUND,
                ),
                self._monitors(),
                self._designers(),
            ]
        )

    def regret(self) -> Markup:
        """How regret is spread over environments."""
        rounds = self.figures.rounds
        columns = [_shares(one.regrets) for one in rounds]
        names = [f"{low:+.1f} to {high:+.1f}" for low, high in itertools.pairwise(BINS)]
        return self.plots.heat(
            "Environments by regret",
            [one.round for one in rounds],
            {name: [column[place] for column in columns] for place, name in enumerate(names)},
            x_label=ROUND,
            edges=BINS,
            mean=_line("mean regret", 1, rounds, lambda one: one.regret.mean),
            note="Share of the round's environments; regret beyond the ends counts in the outer bins.",
        )

    def updates(self) -> Markup:
        """How the updates went."""
        return Markup("").join(map(self._watched, UPDATES))

    def age(self) -> Markup:
        """How far the samples' policies were behind the weights."""
        return Markup("").join(map(self._watched, AGE))

    def samples(self) -> Markup:
        """What was trained on."""
        return Markup("").join(map(self._watched, SAMPLES))

    def faults(self) -> Markup:
        """What went wrong, by whose fault."""
        rounds = self.figures.rounds
        names = {"faulted": "plays broken", "malformed": "replies unreadable", "cut": "replies cut"}
        return Markup("").join(
            [
                self.plots.lines(
                    "Faults in generation",
                    [
                        _line(
                            "plays broken",
                            0,
                            rounds,
                            lambda one: part(one.faulted_plays, one.plays),
                        ),
                        _line(
                            "designs lost by us",
                            5,
                            rounds,
                            lambda one: part(one.faulted, one.designs),
                        ),
                    ],
                    x_label=ROUND,
                    note="Shares. A broken play is neither won nor lost; a lost design is not judged.",
                ),
                self.plots.lines(
                    "Faults in training plays",
                    [
                        self._metric(told, colour, [f"solver/{name}"])
                        for colour, (name, told) in zip((0, 5, 4), names.items(), strict=True)
                    ],
                    x_label=VERSION,
                    note="Counts. Environments break plays; replies are the policy's.",
                ),
            ]
        )

    def time(self) -> Markup:
        """Where the time went."""
        rounds, training = self.figures.rounds, self.figures.training
        by_shard = trained_on(training)
        return Markup("").join(
            [
                self.plots.stacked(
                    "Seconds of a round",
                    [one.round for one in rounds],
                    round_seconds(rounds),
                    unit="s",
                    note="Stages overlap: each part runs from the end of the one before to its own end.",
                    x_label=ROUND,
                ),
                self.plots.stacked(
                    "Seconds of a training step",
                    [one.version for one in training],
                    step_seconds(training),
                    unit="s",
                    x_label=VERSION,
                ),
                self.plots.lines(
                    "Time outside the policy's forward and backward passes",
                    [
                        _line(
                            "outside",
                            3,
                            rounds,
                            lambda one: outside(one, by_shard.get(one.round, ())),
                        )
                    ],
                    y_range=SHARE,
                    note="Share of a round and of the training on its shard. Inside: sampling, and the "
                    "whole of the updates with their optimiser steps.",
                    x_label=ROUND,
                ),
            ]
        )

    def others(self) -> Markup:
        """Every training metric that no other section has drawn, both roles in one chart."""
        known = dict.fromkeys(name for one in self.figures.training for name in one.metrics)
        titles: dict[str, list[str]] = {}
        for name in known:
            place, _, title = name.partition("/")
            if name not in self.drawn and title not in PLAIN and not title.startswith("seconds/"):
                titles.setdefault(title if place in ROLES else name, []).append(name)
        return Markup("").join(
            self.plots.lines(
                title.replace("_", " ").replace("/", ": "),
                [
                    self._metric(role if role in ROLES else "step", ROLES.get(role, 2), (name,))
                    for name in names
                    for role in [name.partition("/")[0]]
                ],
                x_label=VERSION,
            )
            for title, names in titles.items()
        )

    def _watched(self, chart: Watched) -> Markup:
        lines = []
        for role, colour in ROLES.items():
            lines.append(self._metric(role, colour, [f"{role}/{name}" for name in chart.names]))
            if chart.beside:
                name, told = chart.beside
                lines.append(
                    self._metric(f"{role}, {told}", colour, [f"{role}/{name}"], dashed=True)
                )
        return self.plots.lines(chart.title, lines, x_label=VERSION, note=chart.note)

    def _metric(
        self, told: str, colour: int, names: Sequence[str], *, dashed: bool = False
    ) -> Line:
        """The line of the first of some training metrics that was measured at all."""
        training = self.figures.training
        self.drawn.update(names)
        known = [name for name in names if any(name in one.metrics for one in training)]
        points = [
            Point(one.version, one.metrics.get(name)) for name in known[:1] for one in training
        ]
        return Line(told, tuple(points), colour, dashed)

    def _monitors(self) -> Markup:
        """Shares of reward hacks, as far as there were any."""
        start = "designer/monitors/"
        names = dict.fromkeys(
            name for one in self.figures.rounds for name in one.values if name.startswith(start)
        )
        lines = [
            Line(
                name.removeprefix(start).replace("_", " "),
                tuple(Point(one.round, one.values.get(name)) for one in self.figures.rounds),
                colour,
            )
            for colour, name in enumerate(names)
        ]
        found = [one for one in lines if any(point.y for point in one.known)]
        return self.plots.lines(
            "Monitors for reward hacks",
            found,
            x_label=ROUND,
            note="Shares of wins without a tool call, in one turn, by garbage; of environments that only "
            "hinted plays win.",
        )

    def _designers(self) -> Markup:
        """Which version designed a round, where that is not simply the one before."""
        rounds = self.figures.rounds
        if all(one.policy_version == one.round - 1 for one in rounds):
            return Markup("")
        return self.plots.lines(
            "Policy version that designed a round",
            [_line("version", 1, rounds, lambda one: one.policy_version)],
            x_label=ROUND,
        )


def _shares(counts: Sequence[int]) -> list[float]:
    total = sum(counts)
    return [count / total if total else 0.0 for count in counts]


def _line(
    name: str,
    colour: int,
    steps: Sequence[Step],
    value: Callable[[Step], Estimate | float | None],
) -> Line:
    """The line of a figure, with its interval where it has one."""
    points = []
    for step in steps:
        x = step.round if isinstance(step, RoundFigures) else step.version
        found = value(step)
        if isinstance(found, Estimate):
            points.append(Point(x, found.mean, found.low, found.high))
        else:
            points.append(Point(x, found))
    return Line(name, tuple(points), colour)
