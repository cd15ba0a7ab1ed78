"""How episodes are played where policy versions are judged: held-out set and ladder alike."""

from dataclasses import dataclass

from sandbox import SandboxConfig
from solver.config import PolicyConfig, SolverConfig
from spadekit.settings import Settings


@dataclass(frozen=True)
class Playing:
    """What decides an unhinted play besides the weights, the environment and the seeds."""

    prompt: str
    temperature: float
    top_p: float
    top_k: int
    max_tokens: int
    max_turns: int
    context: int
    thinking: str
    dtype: str
    isolation: str


def playing_of(settings: Settings) -> Playing:
    """Return how the settings play an episode: as in training."""
    solver, policy = settings.section(SolverConfig), settings.section(PolicyConfig)
    return Playing(
        prompt=solver.prompt,
        temperature=solver.temperature,
        top_p=solver.top_p,
        top_k=solver.top_k,
        max_tokens=solver.max_tokens,
        max_turns=solver.max_turns,
        context=solver.context,
        thinking=policy.thinking,
        dtype=policy.dtype,
        isolation=settings.section(SandboxConfig).isolation,
    )
