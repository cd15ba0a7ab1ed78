"""Sampling a row inside a vLLM engine's process: live episodes in the sandbox, or recorded designs.

OpenRLHF has no limits of its own here: an exception ends the whole job, and what hangs, hangs for ever.
So every wait has its limit (a reply ``cluster.reply_s``, a plan ``cluster.silence_s``, the rest the
sandbox's), and a row that could not be played because of a fault of ours is written down and padded.
Who notices that too many were is the backend, which reads the notes.
"""

import asyncio
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memory import PlayRecord, record_id
from sandbox import Pool, Sandbox
from solver.advantages import centred
from solver.chat import Chat
from solver.episodes import play_many
from solver.openrlhf.rows import Row, Shown
from solver.openrlhf.run import Played, Run
from solver.policy import Completion, Sampling
from solver.sequences import TokenSequence, sequences
from spadekit.errors import OurFault

Result = dict[str, Any]
"""What OpenRLHF takes from an executor for one sample."""


class EnginePolicy:
    """The engine that OpenRLHF calls ``llm_engine``, as a ``solver.policy.Policy``."""

    def __init__(
        self, engine: Any, params: Any, chat: Chat, *, context: int, version: int, reply_s: float
    ) -> None:
        self._engine = engine
        self._params = params
        self._reply_s = reply_s
        self._stop_ids = sorted(chat.stop_ids)
        self.chat = chat
        self.context = context
        self.version = version
        self.forward_seconds = 0.0

    async def complete(self, prompt_ids: Sequence[int], sampling: Sampling) -> Completion:
        """Sample one completion of ``prompt_ids``; ``OurFault`` when the engine does not give one."""
        # Parameters of our own for every reply: OpenRLHF hands one object to all samples of a row, and
        # its minimum of one token would forbid a reply that ends at once, which the policy may give.
        params = type(self._params)(
            temperature=sampling.temperature,
            max_tokens=sampling.max_tokens,
            stop_token_ids=self._stop_ids,
            skip_special_tokens=False,
            logprobs=self._params.logprobs,
        )
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._reply_s):
                answer = await self._engine.generate(list(prompt_ids), params)
        except TimeoutError:
            raise OurFault(f"the engine gave no reply within {self._reply_s:g} s") from None
        self.forward_seconds += time.monotonic() - began
        out = answer.outputs[0]
        ids = tuple(out.token_ids)
        logprobs = tuple(float(at[one].logprob) for one, at in zip(ids, out.logprobs, strict=True))
        ended = out.finish_reason == "stop"
        if (
            not ids
            or out.finish_reason not in ("stop", "length")
            or ended != (ids[-1] in self.chat.stop_ids)
            or not all(map(math.isfinite, logprobs))
        ):
            raise OurFault(f"the engine's reply does not hold together ({out.finish_reason})")
        return Completion(ids, logprobs, "end" if ended else "length", self.version)

    async def load(self, version_dir: Path) -> None:
        """OpenRLHF switches the weights itself."""
        raise NotImplementedError


@dataclass(frozen=True)
class Figures:
    """What OpenRLHF logs of a sample: the same keys for both roles, since it wants no others."""

    role_designer: float = 0.0
    padding: float = 0.0
    episode_return: float = 0.0
    turns: float = 0.0
    design_reward: float = 0.0


class _Turn:
    """One row being sampled: all its samples are made at once, and handed out one by one."""

    def __init__(self, samples: "asyncio.Task[list[Result]]") -> None:
        self.samples = samples
        self.taken = 0


class Rollouts:
    """Samples rows of one launch in one engine's process."""

    def __init__(self, folder: Path) -> None:
        self._run = Run(folder)
        self._spec = self._run.spec()
        self._turns: dict[int, _Turn] = {}
        self._opening = asyncio.Lock()
        self._pool: Pool | None = None
        self._chat: Chat | None = None

    async def sample(self, label: str, params: Any, max_length: int, engine: Any) -> Result:
        """Return the next sample of the row that ``label`` names.

        Called once for every sample of a row, all at once, in one process: the first call samples the
        whole row.
        """
        index = int(json.loads(label)["row"])
        turn = self._turns.get(index)
        if turn is None:
            work = self._row(index, params, max_length, engine)
            turn = self._turns[index] = _Turn(asyncio.create_task(work))
        member, turn.taken = turn.taken, turn.taken + 1
        if turn.taken == self._spec.row:
            del self._turns[index]
        return (await turn.samples)[member]

    async def close(self) -> None:
        """End every jail."""
        if self._pool is not None:
            await self._pool.close()
            await self._sandbox.close()
            self._pool = None

    async def _row(self, index: int, params: Any, max_length: int, engine: Any) -> list[Result]:
        rollout = await asyncio.to_thread(self._run.claim, index)
        row = await self._run.row(rollout, index, self._spec)
        if self._chat is None:
            self._chat = Chat.open(Path(self._spec.model), self._spec.thinking)
        found = [
            (
                replace(one, advantage=one.advantage * row.scale),
                Figures(role_designer=1.0, design_reward=one.score),
            )
            for one in row.designs
        ]
        if row.jobs:
            policy = EnginePolicy(
                engine,
                params,
                self._chat,
                context=max_length,
                version=row.version,
                reply_s=self._spec.reply_s,
            )
            try:
                found = await self._play(rollout, index, row, policy)
            except OurFault as fault:
                self._run.note_fault(rollout, index, self._spec, str(fault))
            except ExceptionGroup as faults:
                ours, others = faults.split(OurFault)
                if others is not None:
                    raise
                assert ours is not None
                self._run.note_fault(rollout, index, self._spec, str(_first(ours)))
        blank = (_blank(self._chat), Figures(padding=1.0))
        found += [blank] * (self._spec.row - len(found))
        return [_result(*one) for one in found]

    async def _play(
        self, rollout: int, index: int, row: Row, policy: EnginePolicy
    ) -> list[tuple[Shown, Figures]]:
        pool = await self._open()
        plays = await play_many(policy, pool, row.jobs, self._spec.playing)
        records = tuple(
            play.record(
                id=record_id("train", *row.origin, job.environment, job.seed, job.sample_seed),
                environment=job.environment,
                purpose="train",
                arm="unhinted",
            )
            for job, play in zip(row.jobs, plays, strict=True)
        )
        played = Played(
            records, sum(play.malformed for play in plays), sum(play.cut for play in plays)
        )
        await asyncio.to_thread(self._run.note_played, rollout, index, self._spec, played)
        return shown(records, row.scale)

    async def _open(self) -> Pool:
        async with self._opening:
            if self._pool is None:
                self._sandbox = Sandbox(self._spec.sandbox)
                self._pool = Pool(self._sandbox)
        return self._pool


def shown(plays: Sequence[PlayRecord], scale: float) -> list[tuple[Shown, Figures]]:
    """Return the samples of one group of plays.

    A play that faulted, or in which nothing was sampled, says nothing about the policy: it has no sample.
    Where every turn is a sequence of its own, each has the play's return, and the mean is over sequences
    (on one machine: over plays), since OpenRLHF takes the mean of a row off again.
    """
    found: list[tuple[PlayRecord, TokenSequence]] = [
        (play, sequence)
        for play in plays
        if play.episode_return is not None and not play.fault
        for sequence in sequences(play)
    ]
    returns = [play.episode_return or 0.0 for play, _ in found]
    advantages = centred(returns, ["group"] * len(found))
    return [
        (
            Shown(
                one.ids,
                one.mask,
                one.logprobs,
                advantage * scale,
                play.episode_return or 0.0,
                one.cut,
            ),
            Figures(episode_return=play.episode_return or 0.0, turns=float(play.turns)),
        )
        for (play, one), advantage in zip(found, advantages, strict=True)
    ]


def ranges(mask: Sequence[int]) -> list[tuple[int, int]]:
    """Return where the mask is 1, as (start, end) pairs."""
    edges = [at for at in range(len(mask) + 1) if _at(mask, at) != _at(mask, at - 1)]
    return list(zip(edges[::2], edges[1::2], strict=True))


def _at(mask: Sequence[int], at: int) -> int:
    return mask[at] if 0 <= at < len(mask) else 0


def _blank(chat: Chat) -> Shown:
    """The shortest sample there is: OpenRLHF divides by the number of sampled tokens."""
    close = min(chat.stop_ids)
    return Shown((close, close), (0, 1), (0.0, 0.0), 0.0, 0.0)


def _result(sample: Shown, figures: Figures) -> Result:
    return {
        "reward": sample.advantage,
        "scores": sample.score,
        "observation_tokens": list(sample.ids),
        "action_ranges": ranges(sample.mask),
        "rollout_log_probs": list(sample.logprobs),
        "truncated": sample.cut,
        "extra_logs": vars(figures),
    }


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
