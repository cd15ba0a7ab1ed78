"""Read what an arm left in its home."""

from collections.abc import Callable, Sequence
from statistics import fmean

from bench.ablation import others
from bench.ablation.outcome import Budget, Health, Trained
from bench.ablation.work import RUN, Work
from bench.config import AblationConfig
from bench.figures import RoundFigures, TrainingFigures, gather
from bench.heldout.results import Result, comparable, stored
from memory import MemoryConfig, Store
from solver.versions import Versions
from spadekit.cli import Session
from spadekit.errors import BadInput


def trained(session: Session, work: Work, config: AblationConfig) -> Trained:
    """Return the held-out results and the rounds' figures of one arm and seed.

    Raises ``BadInput`` where results of the first or the last version are missing, or where they
    were measured in different ways.
    """
    memory = session.settings.section(MemoryConfig)
    versions = Versions(work.home / "policy")
    with Store.open(memory.place(work.home), memory) as store:
        figures = gather(work.home, store, versions, RUN)
    results, _ = comparable(stored(work.home / "runs" / RUN), versions)
    kept = tuple(one for one in results if one.version <= config.rounds)
    ends = [one.version for one in (*kept[:1], *kept[-1:])]
    if ends != [0, config.rounds]:
        raise BadInput(
            f"{work.home}: held-out results of versions 0 and {config.rounds} are needed, there are "
            f"those of {', '.join(str(one.version) for one in kept) or 'none'}; remove the folder to "
            "run the arm again"
        )
    made = [one for one in figures.rounds if one.round <= config.rounds]
    steps = [one for one in figures.training if one.version <= config.rounds]
    return Trained(
        *(work.arm.name, work.seed, config.rounds, kept, health(made), budget(steps)),
        others=_others(work, versions, config),
    )


def _others(work: Work, versions: Versions, config: AblationConfig) -> tuple[Result, ...]:
    """Return the results of the first and the last version on the other set, if both are there."""
    found, _ = comparable(stored(work.home / "runs" / others.RUN), versions)
    ends = tuple(one for one in found if one.version in (0, config.rounds))
    return ends if len(ends) == len({0, config.rounds}) else ()


def budget(steps: Sequence[TrainingFigures]) -> Budget:
    """Return how many plays the steps were given."""
    plays, trained = (
        int(sum(step.metrics.get(f"solver/{name}", 0) for step in steps))
        for name in ("samples", "trained")
    )
    return Budget(plays, trained)


def health(rounds: Sequence[RoundFigures]) -> Health:
    """Return the means of the first and of the last quarter of rounds (at least one round each)."""
    quarter = max(1, len(rounds) // 4)
    ends = rounds[:quarter], rounds[-quarter:]

    def means(figure: Callable[[RoundFigures], float | None]) -> tuple[float | None, float | None]:
        first, last = (_mean([figure(one) for one in end]) for end in ends)
        return first, last

    return Health(
        valid=means(lambda one: one.valid),
        new=means(_new),
        learnable=means(lambda one: one.learnable),
        vendi=means(lambda one: one.vendi_share),
        reward=means(lambda one: one.designer_reward),
        regret=means(lambda one: one.regret.mean),
    )


def _new(one: RoundFigures) -> float | None:
    sound = one.admitted + one.duplicates
    return one.admitted / sound if sound else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
