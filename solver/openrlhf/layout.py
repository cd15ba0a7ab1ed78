"""How one rollout is laid out: rows of one size, and optimiser steps that divide them evenly.

Also says in one line which settings OpenRLHF cannot honour: it has one Adam for both roles, one
sampling temperature, and a loss that is averaged over tokens.
"""

from dataclasses import dataclass

from solver.config import SolverConfig, TrainConfig
from solver.openrlhf.config import ClusterConfig
from solver.policy import require_whole
from spadekit.errors import BadInput
from spadekit.settings import Settings


@dataclass(frozen=True)
class Layout:
    """Sizes of one rollout, in rows and samples."""

    play_rows: int
    design_rows: int
    row: int
    """Samples of one row: the plays of a group, times the sequences that a play may have."""
    plays: int
    """Plays of one row."""
    updates: int
    """Optimiser steps after one rollout."""

    @property
    def rows(self) -> int:
        """Rows of one rollout, of both roles."""
        return self.play_rows + self.design_rows

    @property
    def samples(self) -> int:
        """Samples of one rollout."""
        return self.rows * self.row

    @property
    def batch(self) -> int:
        """Samples of one optimiser step."""
        return self.samples // self.updates


def layout(settings: Settings, separate: bool) -> Layout:
    """Return the layout that the settings ask for; ``BadInput`` where OpenRLHF cannot do it.

    ``separate``: every turn of a play is a sequence of its own (``solver.templates``), so that a row has
    room for all turns of all its plays.
    """
    train, cluster = settings.section(TrainConfig), settings.section(ClusterConfig)
    solver = settings.section(SolverConfig)
    _check_method(train, solver, cluster)
    for name in ("groups", "solver_updates"):
        if getattr(train, name) % cluster.rollouts:
            raise BadInput(
                f"train.{name} = {getattr(train, name)} cannot be dealt to cluster.rollouts = "
                f"{cluster.rollouts}; make it a multiple"
            )
    found = Layout(
        play_rows=train.groups // cluster.rollouts if train.solver_weight else 0,
        design_rows=cluster.design_rows if train.designer_weight else 0,
        row=train.group * (solver.max_turns if separate else 1),
        plays=train.group,
        updates=train.solver_updates // cluster.rollouts,
    )
    if not found.rows:
        raise BadInput("there is nothing to train: both roles are left out; raise a weight")
    at_once = cluster.nodes * cluster.gpus * cluster.micro_batch
    if found.samples % (found.updates * at_once):
        raise BadInput(
            f"a rollout has {found.rows} rows of {found.row} = {found.samples} samples, which "
            f"{found.updates} optimiser steps of whole batches on {at_once} places (nodes x gpus x "
            "micro_batch) cannot share; change train.groups, train.group or cluster.design_rows"
        )
    return found


def _check_method(train: TrainConfig, solver: SolverConfig, cluster: ClusterConfig) -> None:
    wanted = {
        "train.optimiser": (train.optimiser, "shared", "one optimiser for both roles"),
        "train.aggregation": (train.aggregation, "token-mean", "a loss averaged over tokens"),
        "train.advantages": (train.advantages, "centred", "advantages of the rows as they come"),
    }
    for name, (value, needed, why) in wanted.items():
        if value != needed:
            raise BadInput(f'OpenRLHF has {why}: {name} = "{value}" must be "{needed}"')
    if train.lora_rank:
        raise BadInput(
            f"train.lora_rank = {train.lora_rank}: OpenRLHF does not bring adapters to the engines that "
            "sample; set it to 0"
        )
    require_whole(solver)
    if solver.context > cluster.context:
        raise BadInput(
            f"solver.context = {solver.context} exceeds cluster.context = {cluster.context}; "
            "lower the one or raise the other"
        )
