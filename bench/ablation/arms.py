"""The arms of the comparison: self-play, and the same work with a part taken away.

An arm is a handful of settings over the recipe it is run with; nothing else of the program knows
which arm it works for.
"""

from dataclasses import dataclass

from spadekit.errors import BadInput


@dataclass(frozen=True)
class Arm:
    """One way of training. ``settings`` are ``section.key=value`` as ``--set`` takes them.

    ``pool``: the starting designer makes a pool once, and only the solver is trained, on that pool.
    """

    name: str
    title: str
    settings: tuple[str, ...] = ()
    pool: bool = False


# A frozen designer is the starting policy: with one set of weights it would otherwise change with
# the solver's updates. Rounds are always designed by a multiple of `sync.every`: here by version 0.
_FROZEN = ("train.designer_weight=0", "sync.every=1000000")
_NO_MEMORY = ("designer.memory=false",)

ARMS = (
    Arm("self_play", "full self-play"),
    Arm("fixed_pool", "fixed pool of the starting designer", ("train.designer_weight=0",), True),
    Arm("frozen", "frozen designer without memory", _FROZEN + _NO_MEMORY),
    Arm("frozen_memory", "frozen designer", _FROZEN),
    Arm("no_memory", "no memory in the briefs", _NO_MEMORY),
    Arm("no_corpus", "no documents in the briefs", ('corpus.path="none"',)),
    Arm("learning_potential", "learning-potential reward", ('reward.kind="learning_potential"',)),
    Arm("solve_rate", "solve-rate reward", ('reward.kind="solve_rate"',)),
)


def named(names: tuple[str, ...]) -> list[Arm]:
    """Return the arms of these names in this order; ``BadInput`` lists the known ones."""
    known = {arm.name: arm for arm in ARMS}
    for name in names:
        if name not in known:
            raise BadInput(f"ablation.arms: no arm {name!r}; known: {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)]
