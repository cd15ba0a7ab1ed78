"""Playing: one loop for games and tool use, on append-only token buffers.

Who is to blame is kept apart. The environment's faults end the play and are recorded in it
(``fault``); the policy's are typed (``PolicyFault``), written down beside the reply, counted, and cost
it the turn; a ``SandboxFault`` is ours and is raised. A reply that was cut at its length is marked so
and acted on as far as it goes, unless it was still thinking: what was thought is no action.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from memory import PlayRecord
from sandbox import (
    EnvironmentFault,
    Message,
    Playable,
    Playing,
    Pool,
    SandboxFault,
    action_bytes,
    episode_return,
    game_action,
)
from solver.chat import Conversations, Spoken, Turn, UnreadableTools, next_prompt
from solver.config import SolverConfig
from solver.policy import Completion, Gathering, Policy, Sampling
from solver.prompts import Prompt, opening
from solver.sequences import OWN
from solver.thinking import said
from solver.toolcalls import Malformation, parse
from spadekit.seeds import derive

Stop = Literal["terminated", "truncated", "turns", "context", "fault"]
PolicyFault = Literal[Malformation, "long", "unfinished"]
"""An unreadable tool call (see ``solver.toolcalls``), an over-long action, or reasoning without an end."""
_ATTEMPTS = 3


@dataclass(frozen=True)
class Play:
    """One finished episode.

    ``ids``, ``mask`` and ``logprobs`` have one entry per token of the conversation; the mask is 1
    on exactly the ids that the policy sampled, in the order sampled. Where the chat template makes
    every turn a sequence of its own they stand one after another, and the replies in ``transcript``
    have ``"prompt": "own"`` (see ``solver.sequences``). ``episode_return`` is None when the
    environment faulted. ``version`` is the oldest policy version that took part.

    ``transcript`` has role and content of every message; a reply also has its ``stop`` ("end", or
    "length" when it was cut) and, if it was malformed, the ``fault``.
    """

    seed: int
    hinted: bool
    episode_return: float | None
    turns: int
    fault: str
    stop: Stop
    version: int
    temperature: float
    ids: tuple[int, ...]
    mask: tuple[int, ...]
    logprobs: tuple[float, ...]
    transcript: tuple[dict[str, str], ...]
    faults: tuple[PolicyFault, ...]
    """What was wrong with the malformed replies, in order."""
    cut: int
    """Replies cut off at their token limit."""

    @property
    def malformed(self) -> int:
        """Replies that were no action."""
        return len(self.faults)

    def record(self, *, id: str, environment: str, purpose: str, arm: str) -> PlayRecord:
        """Return the row of the store for this play."""
        return PlayRecord(
            id=id,
            environment=environment,
            seed=self.seed,
            arm=arm,
            purpose=purpose,
            episode_return=self.episode_return,
            turns=self.turns,
            fault=self.fault,
            stop=self.stop,
            policy_version=self.version,
            temperature=self.temperature,
            ids=self.ids,
            mask=self.mask,
            logprobs=self.logprobs,
            transcript=json.dumps(self.transcript),
        )


@dataclass(frozen=True)
class Job:
    """One play to make with :func:`play_many`. ``sample_seed`` fixes the policy's choices."""

    environment: str
    source: str
    seed: int
    hint: str | None
    sample_seed: int


@dataclass(frozen=True)
class _Rules:
    """What holds for every turn of a play."""

    sampling: Sampling
    max_turns: int
    prompt: Prompt
    context: int


async def play(
    policy: Policy,
    jail: Playable,
    *,
    seed: int,
    hint: str | None,
    sampling: Sampling,
    max_turns: int,
    prompt: Prompt,
    context: int | None = None,
) -> Play:
    """Play one episode to its end.

    Every reply consumes a turn, whatever is in it. ``sampling.max_tokens`` bounds one reply,
    ``context`` (at most, and by default, the policy's) the whole conversation; a reply's seed is
    derived from ``sampling.seed`` and its turn. Raises ``SandboxFault`` only.
    """
    with _client(policy):
        rules = _Rules(sampling, max_turns, prompt, context or policy.context)
        return await _play(policy, jail, seed, hint, rules)


async def play_many(
    policy: Policy, pool: Pool, jobs: Sequence[Job], config: SolverConfig
) -> list[Play]:
    """Play all jobs, begun in order; the plays come in the order of the jobs.

    At most ``config.concurrency`` plays of ``config.sources`` different environments are open at
    once: keep the plays of one environment together. Raises ``SandboxFault`` when the sandbox fails
    three times in a row on one job.
    """
    plays: list[Play | None] = [None] * len(jobs)
    line = _Line(jobs, config.sources)

    async def player() -> None:
        while line.left:
            # One client for play after play: a batch waits for a player's next play as for a turn.
            with _client(policy):
                while (index := line.take()) is not None:
                    try:
                        plays[index] = await _job(policy, pool, jobs[index], config)
                    finally:
                        line.done(index)
            if line.left:
                await line.changed()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(config.concurrency, len(jobs))):
                group.create_task(player())
    except* SandboxFault as faults:
        first: BaseException = faults
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        fault = first
    else:
        return [play for play in plays if play is not None]
    raise fault


class _Line:
    """Jobs handed out in order while at most ``most`` different sources are being played."""

    def __init__(self, jobs: Sequence[Job], most: int) -> None:
        self._jobs, self._most = jobs, most
        self._next = 0
        self._playing: Counter[str] = Counter()
        self._change = asyncio.Event()

    @property
    def left(self) -> bool:
        return self._next < len(self._jobs)

    def take(self) -> int | None:
        """Return the index of the next job; None when there is none or its source must wait."""
        if not self.left:
            return None
        source = self._jobs[self._next].source
        if source not in self._playing and len(self._playing) >= self._most:
            return None
        self._playing[source] += 1
        self._next += 1
        return self._next - 1

    def done(self, index: int) -> None:
        source = self._jobs[index].source
        self._playing[source] -= 1
        if not self._playing[source]:
            del self._playing[source]
            self._change.set()
            self._change = asyncio.Event()

    async def changed(self) -> None:
        """Wait until a source has no play open any more."""
        await self._change.wait()


async def _job(policy: Policy, pool: Pool, job: Job, config: SolverConfig) -> Play:
    sampling = Sampling.of(config, job.sample_seed)
    rules = _Rules(sampling, config.max_turns, config.prompt, config.context)
    for attempt in range(_ATTEMPTS):
        try:
            async with pool.lease(job.source) as jail:
                return await _play(policy, jail, job.seed, job.hint, rules)
        except EnvironmentFault as fault:
            return _Buffer(policy).finish(job.seed, job.hint, rules, _Outcome.of(fault))
        except SandboxFault:
            # A jail that died under its other plays is replaced by the next lease.
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("the loop returns or raises")


@dataclass(frozen=True)
class _Outcome:
    """How a play ended."""

    value: float | None
    stop: Stop
    fault: str = ""

    @classmethod
    def of(cls, fault: EnvironmentFault) -> "_Outcome":
        return cls(None, "fault", f"{fault.stage}:{fault.reason}")


async def _play(policy: Policy, jail: Playable, seed: int, hint: str | None, rules: _Rules) -> Play:
    rules = replace(
        rules,
        max_turns=min(rules.max_turns, jail.info.max_turns or rules.max_turns),
        context=min(rules.context, policy.context),
    )
    buffer = _Buffer(policy)
    try:
        async with await jail.episode(seed) as episode:
            messages = opening(
                episode.observation,
                jail.info,
                hint,
                rules.prompt,
                rules.max_turns,
                policy.chat.dialect,
            )
            try:
                buffer.open(messages, jail.info.tools)
            except UnreadableTools as error:
                raise EnvironmentFault("load", "contract", f"the tools: {error}") from None
            outcome = await _turns(buffer, episode, jail, rules)
    except EnvironmentFault as fault:
        outcome = _Outcome.of(fault)
    return buffer.finish(seed, hint, rules, outcome)


async def _turns(buffer: "_Buffer", episode: Playing, jail: Playable, rules: _Rules) -> _Outcome:
    game = jail.info.setting == "game"
    for turn in range(rules.max_turns):
        room = rules.context - len(buffer.prompt)
        if room < 1:
            return _Outcome(0.0, "context")
        text = await buffer.reply(
            replace(
                rules.sampling,
                max_tokens=min(rules.sampling.max_tokens, room),
                seed=derive(rules.sampling.seed, "turn", turn),
            )
        )
        action = _action(text, game, jail.longest_action, buffer.policy.chat, buffer.tools)
        if isinstance(action, _Problem):
            buffer.blame(action.kind)
            told = action.told if game else json.dumps({"error": action.told})
            buffer.hear([Message("user" if game else "tool", told)])
            continue
        step = await episode.step(action)
        if step.terminated or step.truncated:
            buffer.note(step.observation)
            stop: Stop = "terminated" if step.terminated else "truncated"
            return _Outcome(episode_return(step.reward, step.terminated), stop)
        buffer.hear(step.observation)
    return _Outcome(0.0, "turns")


@dataclass(frozen=True)
class _Problem:
    """Why a reply is no action, and what the policy is told about it."""

    kind: PolicyFault
    told: str


def _action(
    text: str, game: bool, longest: int, chat: Conversations, tools: Sequence[dict[str, Any]]
) -> str | _Problem:
    """Return the action in a reply, or what is wrong with it."""
    spoken = said(text, chat.opened)
    if not spoken.finished:
        return _Problem(
            "unfinished", "your reply ended before your reasoning did; nothing was done"
        )
    if game:
        action = game_action(spoken.answer)
    else:
        reply = parse(spoken.answer, chat.dialect, tools)
        if reply.malformed:
            first = reply.malformed[0]
            return _Problem(first.kind, f"malformed tool call: {first.detail}")
        action = reply.action()
    if action_bytes(action) > longest:
        return _Problem("long", "your action is too long; nothing was done")
    return action


@dataclass
class _Buffer:
    """A conversation as it grows: ids, mask and log-probabilities in step, text beside them."""

    policy: Policy
    ids: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    transcript: list[dict[str, str]] = field(default_factory=list)
    turns: int = 0
    faults: list[PolicyFault] = field(default_factory=list)
    cut: int = 0
    version: int | None = None
    told: list[Turn] = field(default_factory=list)
    tools: Sequence[dict[str, Any]] = ()
    begin: int = 0
    """Where the sequence begins that is being continued; earlier ones are complete."""
    last: Completion | None = None

    @property
    def prompt(self) -> list[int]:
        """What the policy is to continue."""
        return self.ids[self.begin :]

    def open(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]]) -> None:
        self._append(self.policy.chat.start(messages, tools))
        self.tools, self.told = tools, list(messages)
        self.note(messages)

    async def reply(self, sampling: Sampling) -> str:
        """Let the policy speak; return the text of what it sampled."""
        completion = self.last = await self.policy.complete(self.prompt, sampling)
        self.ids += completion.ids
        self.mask += [1] * len(completion.ids)
        self.logprobs += completion.logprobs
        known = completion.version if self.version is None else self.version
        self.version = min(known, completion.version)
        self.turns += 1
        self.cut += completion.stop == "length"
        text = self.policy.chat.decode(completion.ids)
        entry = {"role": "assistant", "content": text, "stop": completion.stop}
        self.transcript.append(entry | ({"prompt": OWN} if self.policy.chat.separate else {}))
        return text

    def blame(self, kind: PolicyFault) -> None:
        """Note what was wrong with the last reply."""
        self.faults.append(kind)
        self.transcript[-1]["fault"] = kind

    def hear(self, messages: Sequence[Message]) -> None:
        """Add what the environment says and open the next reply."""
        assert self.last is not None
        chat, stop = self.policy.chat, self.last.stop
        ids, appended = next_prompt(chat, self.told, self.last.ids, stop, messages, self.tools)
        if not appended:
            self.begin = len(self.ids)
        self._append(ids)
        self.told += [Spoken("assistant", self.transcript[-1]["content"]), *messages]
        self.note(messages)

    def note(self, messages: Iterable[Message]) -> None:
        """Write down messages that the policy need not read."""
        self.transcript += [{"role": m.role, "content": m.content} for m in messages]

    def _append(self, ids: Sequence[int]) -> None:
        self.ids += ids
        self.mask += [0] * len(ids)
        self.logprobs += [0.0] * len(ids)

    def finish(self, seed: int, hint: str | None, rules: _Rules, outcome: _Outcome) -> Play:
        """Close the buffer; what was said after the last reply conditioned nothing and is cut."""
        end = max((i + 1 for i, sampled in enumerate(self.mask) if sampled), default=len(self.ids))
        if self.policy.chat.text_only:
            end = 0  # the ids are no tokens: the transcript is all there is to keep
        return Play(
            seed=seed,
            hinted=hint is not None,
            episode_return=outcome.value,
            turns=self.turns,
            fault=outcome.fault,
            stop=outcome.stop,
            version=self.policy.version if self.version is None else self.version,
            temperature=rules.sampling.temperature,
            ids=tuple(self.ids[:end]),
            mask=tuple(self.mask[:end]),
            logprobs=tuple(self.logprobs[:end]),
            transcript=tuple(self.transcript),
            faults=tuple(self.faults),
            cut=self.cut,
        )


def _client(policy: Policy) -> AbstractContextManager[None]:
    return policy.client() if isinstance(policy, Gathering) else nullcontext()
