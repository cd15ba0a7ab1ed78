"""A program that stands in for OpenRLHF: what the backend sees of it, in seconds and without a GPU.

Loads the launch's agent as OpenRLHF does, samples every row of the data set in one shuffled episode after the
other, moves the weights a little, and writes the folders that OpenRLHF writes. The real one is run by
``tests/openrlhf/cluster.py``.
"""

import asyncio
import importlib.util
import itertools
import json
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from safetensors.torch import load_file, save_file

from solver.config import PolicyConfig
from solver.engines.local import LocalEngine
from solver.policy import Sampling


@dataclass
class Params:
    temperature: float = 1.0
    max_tokens: int = 1
    stop_token_ids: list[int] = field(default_factory=list)
    skip_special_tokens: bool = True
    logprobs: int = 1


class Engine:
    def __init__(self, policy: LocalEngine) -> None:
        self.policy = policy
        self.seeds = itertools.count()

    async def generate(self, prompt_ids: list[int], params: Params) -> Any:
        sampling = Sampling(params.temperature, params.max_tokens, next(self.seeds))
        got = await self.policy.complete(prompt_ids, sampling)
        pairs = zip(got.ids, got.logprobs, strict=True)
        out = SimpleNamespace(
            token_ids=list(got.ids),
            logprobs=[{one: SimpleNamespace(logprob=value)} for one, value in pairs],
            finish_reason="stop" if got.stop == "end" else "length",
        )
        return SimpleNamespace(outputs=[out])


def load_agent(path: str) -> Any:
    for name in ("openrlhf", "openrlhf.utils", "openrlhf.utils.agent"):
        sys.modules[name] = ModuleType(name)
    sys.modules["openrlhf.utils.agent"].AgentExecutorBase = object  # type: ignore[attr-defined]
    spec = importlib.util.spec_from_file_location("agent_module", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.AgentExecutor()


def write(root: Path, model: Path, step: int) -> None:
    weights = load_file(model / "model.safetensors")
    weights = {name: value + 1e-3 * step for name, value in weights.items()}
    (root / "_actor" / f"global_step{step}").mkdir(parents=True)
    (root / "_actor" / "latest").write_text(f"global_step{step}")
    folder = root / f"global_step{step}_hf"
    folder.mkdir()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text((model / "config.json").read_text())


def read_rows(path: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


async def main(told: dict[str, list[str]]) -> None:
    root, model = Path(told["ckpt.path"][0]), Path(told["actor.model_name_or_path"][0])
    agent = load_agent(told["train.agent_func_path"][0])
    rows = read_rows(told["data.prompt_dataset"][0])
    samples, every = (
        int(told[name][0]) for name in ("rollout.n_samples_per_prompt", "ckpt.save_steps")
    )
    step = 0
    if "ckpt.load_enable" in told:
        step = int((root / "_actor" / "latest").read_text().removeprefix("global_step"))
    engine = Engine(LocalEngine.open(model, PolicyConfig(patience_s=0.05)))
    while True:
        random.shuffle(rows)
        calls = [
            agent.execute(
                prompt=row["prompt"],
                label=row["label"],
                sampling_params=Params(),
                max_length=int(told["data.max_len"][0]),
                hf_tokenizer=None,
                llm_engine=engine,
                images=None,
            )
            for row in rows
            for _ in range(samples)
        ]
        results = await asyncio.gather(*calls)
        for at in range(0, len(results), samples):
            row = [one["reward"] for one in results[at : at + samples]]
            assert abs(sum(row)) < 1e-9, row
        step += 1
        sys.stdout.write(f"Global step {step}: {{'actor_grad_norm': 0.5}}\n")
        sys.stdout.flush()
        if step % every == 0:
            write(root, model, step)


def read(argv: list[str]) -> dict[str, list[str]]:
    told: dict[str, list[str]] = {}
    for word in argv:
        if word.startswith("--"):
            told[name := word[2:]] = []
        else:
            told[name].append(word)
    return told


if __name__ == "__main__":
    asyncio.run(main(read(sys.argv[1:])))
