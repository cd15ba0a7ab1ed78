"""The arms of the comparison: self-play, and the same work with a part taken away.

An arm is a recipe's overlays (``configs/overlays``, the ones that anybody may train with); nothing else
of the program knows which arm it works for.
"""

from dataclasses import dataclass
from pathlib import Path

from spadekit.errors import BadInput

OVERLAYS = Path(__file__).parents[2] / "configs" / "overlays"


@dataclass(frozen=True)
class Arm:
    """One way of training: overlays laid over the recipe that the comparison is run with.

    ``pool``: the starting designer makes a pool once, and only the solver is trained, on that pool.
    """

    name: str
    title: str
    overlays: tuple[str, ...] = ()
    pool: bool = False

    @property
    def paths(self) -> list[str]:
        """The overlays' files."""
        return [str(OVERLAYS / f"{name}.toml") for name in self.overlays]


ARMS = (
    Arm("self_play", "full self-play"),
    Arm("fixed_pool", "fixed pool of the starting designer", ("fixed-pool",), pool=True),
    Arm("frozen", "frozen designer without memory", ("frozen-designer", "no-memory")),
    Arm("frozen_memory", "frozen designer", ("frozen-designer",)),
    Arm("no_memory", "no memory", ("no-memory",)),
    Arm("no_corpus", "no documents in the briefs", ("no-corpus",)),
    Arm("learning_potential", "learning-potential reward", ("learning-potential",)),
    Arm("solve_rate", "solve-rate reward", ("solve-rate",)),
    # differs from the fixed pool and from the frozen designers in who designs, and in nothing else
    Arm("self_play_uniform", "full self-play, environments in turn", ("uniform",)),
)


def named(names: tuple[str, ...]) -> list[Arm]:
    """Return the arms of these names in this order; ``BadInput`` lists the known ones."""
    known = {arm.name: arm for arm in ARMS}
    for name in names:
        if name not in known:
            raise BadInput(f"ablation.arms: no arm {name!r}; known: {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)]
