"""The class that OpenRLHF loads in every vLLM engine. Runs only where OpenRLHF is installed."""

from pathlib import Path
from typing import Any

from openrlhf.utils.agent import AgentExecutorBase  # type: ignore[import-not-found]

from solver.openrlhf.rollouts import Rollouts


class Executor(AgentExecutorBase):  # type: ignore[misc]
    """Samples the rows of one launch; ``folder`` is the launch's, set by its ``agent.py``.

    Derived from the base and not from ``MultiTurnAgentExecutor``, which renders what the environment
    says as text of its own, knows no chat template, and shares sampling parameters between samples.
    """

    folder = ""

    def __init__(self) -> None:
        self._rollouts = Rollouts(Path(self.folder))

    async def execute(
        self,
        prompt: str,
        label: str,
        sampling_params: Any,
        max_length: int,
        hf_tokenizer: Any,
        llm_engine: Any,
        images: Any = None,
    ) -> dict[str, Any]:
        """Return one sample of a row; called once for each of its samples, all at once."""
        result = await self._rollouts.sample(label, sampling_params, max_length, llm_engine)
        return {
            "prompt": prompt,
            "label": label,
            "images": images,
            "mm_train_inputs": None,
        } | result
