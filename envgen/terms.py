"""The terms of a recipe: designs, checked files and imports are certified under the same ones."""

from envgen.certificate import Terms
from envgen.config import ProducerConfig
from solver.config import SolverConfig
from spadekit.settings import Settings


def terms_of(settings: Settings) -> Terms:
    """Return the terms. An environment is for this recipe's solver: what takes more turns is no task."""
    return Terms(
        settings.section(SolverConfig).max_turns, settings.section(ProducerConfig).guessable
    )
