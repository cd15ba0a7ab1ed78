"""The grammar of environment programs: 18 families over 13 skills, deterministic by seed."""

from collections.abc import Callable
from random import Random

from solver.embedded.grammar.base import Ask, Demo, Draw, Program, Say, Turn
from solver.embedded.grammar.causes import machine
from solver.embedded.grammar.language import letters
from solver.embedded.grammar.numbers import calc, lists, sequence, total
from solver.embedded.grammar.orders import coins, schedule
from solver.embedded.grammar.places import key, route, walk
from solver.embedded.grammar.recall import recall
from solver.embedded.grammar.tools_data import lookup
from solver.embedded.grammar.tools_plan import workflow
from solver.embedded.grammar.tools_state import settings, unlock
from solver.embedded.grammar.turns import guess, nim
from solver.embedded.words import WORDS
from spadekit.seeds import derive

STYLES = 8
"""Ways of writing one family; see ``Draw``."""

Family = Callable[[Draw], Program]

FAMILIES: dict[str, tuple[str, tuple[Family, ...]]] = {
    "mathematical_reasoning": ("game", (calc, total)),
    "logical_deduction": ("game", (guess,)),
    "spatial_reasoning": ("game", (route, walk)),
    "pattern_recognition": ("game", (sequence, lists)),
    "optimisation": ("game", (schedule, coins)),
    "causal_inference": ("game", (machine,)),
    "strategic_planning": ("game", (nim, key)),
    "memory_recall": ("game", (recall,)),
    "language_understanding": ("game", (letters,)),
    "data_retrieval": ("tool_use", (lookup,)),
    "state_modification": ("tool_use", (settings,)),
    "error_recovery": ("tool_use", (unlock,)),
    "multi_step_workflows": ("tool_use", (workflow,)),
}
SKILLS: dict[str, tuple[str, ...]] = {
    setting: tuple(skill for skill, (of, _) in FAMILIES.items() if of == setting)
    for setting in ("game", "tool_use")
}


def sample(
    rng: Random,
    skill: str,
    level: int,
    topic: tuple[str, ...] = (),
    family: str | None = None,
) -> Program:
    """Draw one program of a skill. ``topic``: words that lead its word list; ``family``: by name."""
    makers = FAMILIES[skill][1]
    if family is not None:
        makers = tuple(maker for maker in makers if maker.__name__ == family)
    others = [word for word in rng.sample(WORDS, 12) if word not in topic]
    maker = rng.choice(makers)
    style = Random(derive(0, maker.__name__, rng.randrange(STYLES)))
    return maker(Draw(style, rng, level, (*topic, *others)))


__all__ = [
    "FAMILIES",
    "SKILLS",
    "Ask",
    "Demo",
    "Draw",
    "Program",
    "Say",
    "Turn",
    "sample",
]
