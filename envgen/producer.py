"""One round of the dataset producer: brief, design, certify, measure, admit, publish a shard.

Every finished step is a line of the round's journal, so a killed round goes on where it was: what was
sampled, certified or played is never done twice, and the shard appears whole or not at all.
"""

import asyncio
import dataclasses
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rich.progress import Progress

from envgen.brief import make_briefs, render
from envgen.certificate import Certificate, certify
from envgen.config import DesignerConfig, ProbeConfig, ProducerConfig, RewardConfig
from envgen.designer import Unreadable, read_design
from envgen.probe import Trial, schedule
from envgen.reward import REWARDS
from envgen.workspace import Workspace
from memory import (
    DesignRecord,
    EnvironmentRecord,
    PlayRecord,
    StandingRecord,
    environment_id,
)
from memory.diversity import Decision, DiversityFilter
from memory.standing import measure
from sandbox import Message, SandboxConfig, SandboxFault
from solver.config import SolverConfig
from solver.episodes import play
from solver.policy import Sampling
from spadekit.errors import OurFault
from spadekit.files import Journal
from spadekit.seeds import derive

T = TypeVar("T")
ATTEMPTS = 3


@dataclass
class Draft:
    """One design on its way through the round."""

    index: int
    brief: dict[str, Any]
    messages: tuple[Message, ...]
    prompt_ids: tuple[int, ...] = ()
    ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    stop: str = ""
    text: str = ""
    seed: int = 0
    source: str = ""
    hint: str = ""
    certificate: Certificate | None = None
    decision: Decision | None = None
    plays: list[PlayRecord] = field(default_factory=list)
    standing: StandingRecord | None = None
    outcome: str = ""
    stage: str = ""
    reason: str = ""
    detail: str = ""
    certified: asyncio.Event = field(default_factory=asyncio.Event)

    def refuse(self, outcome: str, stage: str, reason: str, detail: str) -> None:
        """Record why this design goes no further."""
        self.outcome, self.stage, self.reason, self.detail = outcome, stage, reason, detail


class Round:
    """The work of one round. ``run()`` returns the summary that is stored in the shard's manifest."""

    def __init__(self, workspace: Workspace, number: int) -> None:
        self.work = workspace
        self.number = number
        self.producer = workspace.settings.section(ProducerConfig)
        self.designer = workspace.settings.section(DesignerConfig)
        self.probing = workspace.settings.section(ProbeConfig)
        self.solver = workspace.settings.section(SolverConfig)
        self.journal = Journal(workspace.run_dir / "rounds" / f"{number:06d}.jsonl")
        self.seconds: dict[str, float] = {}
        self._certifying = asyncio.Semaphore(self.producer.parallel_certificates)
        self._playing = asyncio.Semaphore(self.probing.max_parallel)

    async def run(self) -> dict[str, Any]:
        """Finish the round, whatever of it was done before, and publish its shard."""
        started = time.monotonic()
        forward = self.work.policy.forward_seconds
        plan = await self._plan()
        await self.work.policy.load(self.work.versions.path(plan["policy_version"]))
        drafts = self._drafts(plan)
        done = {(entry["kind"], entry.get("index")): entry for entry in self.journal.entries}
        with self.work.report.progress() as progress:
            await self._work(drafts, done, progress, started)
        self.seconds["total"] = time.monotonic() - started
        self.seconds["forward"] = self.work.policy.forward_seconds - forward
        summary = self._publish(drafts, plan)
        self.journal.close()
        self.journal.path.unlink()
        return summary

    async def _plan(self) -> dict[str, Any]:
        """Return the round's plan, made and journalled once: a resumed round keeps its briefs."""
        if self.journal.entries:
            plan = self.journal.entries[0]
            if plan["settings"] != self.work.settings.digest:
                self.work.report.note(
                    f"round {self.number} was begun with other settings; it goes on with its briefs"
                )
            return plan
        version = self.work.policy.version
        briefs = make_briefs(
            self.producer.designs // self.producer.designs_per_brief,
            self.designer,
            self.work.corpus,
            self.work.store,
            round_number=self.number,
            policy_version=version,
            seed=self.work.seed,
            preferred=self.work.preferred_words,
        )
        plan = {
            "kind": "plan",
            "policy_version": version,
            "settings": self.work.settings.digest,
            "briefs": [
                {
                    "brief": json.loads(brief.as_json()),
                    "messages": [
                        [message.role, message.content]
                        for message in render(brief, self.designer.prompt)
                    ],
                }
                for brief in briefs
            ],
        }
        self.journal.append(plan)
        self.journal.sync()
        return plan

    def _drafts(self, plan: dict[str, Any]) -> list[Draft]:
        drafts = []
        for asked in plan["briefs"]:
            messages = tuple(Message(role, content) for role, content in asked["messages"])
            for _ in range(self.producer.designs_per_brief):
                drafts.append(Draft(len(drafts), asked["brief"], messages))
        return drafts

    async def _work(
        self,
        drafts: list[Draft],
        done: dict[tuple[str, int | None], dict[str, Any]],
        progress: Progress,
        started: float,
    ) -> None:
        """Design and certify as completions come; decide in order; measure as soon as admitted."""
        bar = progress.add_task(f"round {self.number}: designs", total=len(drafts), note="")
        bar_plays = progress.add_task(f"round {self.number}: environments", total=None, note="")
        known = DiversityFilter.of(self.work.store)

        async def author(draft: Draft) -> None:
            try:
                await self._design(draft, done.get(("design", draft.index)))
                self.seconds["design"] = time.monotonic() - started
                await self._certify(draft, done.get(("certificate", draft.index)))
                self.seconds["certify"] = time.monotonic() - started
            finally:
                draft.certified.set()
                progress.advance(bar)

        async def admit() -> None:
            # In order of index, so that which of two twins is the variant does not hang on timing.
            for draft in drafts:
                await draft.certified.wait()
                if draft.outcome:
                    continue
                self._decide(draft, known)
                if not draft.outcome:
                    group.create_task(probe(draft))

        async def probe(draft: Draft) -> None:
            await self._probe(draft, done.get(("plays", draft.index)))
            self.seconds["probe"] = time.monotonic() - started
            progress.advance(bar_plays)

        async with asyncio.TaskGroup() as group:
            for draft in drafts:
                group.create_task(author(draft))
            group.create_task(admit())

    async def _design(self, draft: Draft, entry: dict[str, Any] | None) -> None:
        chat = self.work.policy.chat
        draft.prompt_ids = tuple(chat.start(draft.messages))
        draft.seed = derive(self.work.seed, "design", self.number, draft.index)
        if entry is None:
            sampling = Sampling(self.designer.temperature, self.designer.max_tokens, draft.seed)
            completion = await self.work.policy.complete(draft.prompt_ids, sampling)
            entry = {
                "kind": "design",
                "index": draft.index,
                "ids": completion.ids,
                "logprobs": completion.logprobs,
                "stop": completion.stop,
            }
            self.journal.append(entry)
        draft.ids, draft.logprobs = tuple(entry["ids"]), tuple(entry["logprobs"])
        draft.stop = entry["stop"]
        draft.text = chat.decode(draft.ids)
        design = read_design(draft.text, draft.stop)
        if isinstance(design, Unreadable):
            draft.refuse("refused", "read", design.reason, design.detail)
        else:
            draft.source, draft.hint = design.source, design.hint

    async def _certify(self, draft: Draft, entry: dict[str, Any] | None) -> None:
        if draft.outcome:
            return
        if entry is None:
            try:
                async with self._certifying:
                    certificate = await _retried(
                        lambda: certify(draft.source, draft.hint, self.work.sandbox)
                    )
            except SandboxFault as fault:
                draft.refuse("faulted", "certificate", "sandbox", str(fault))
                return
            entry = {
                "kind": "certificate",
                "index": draft.index,
                "certificate": certificate.as_json(),
            }
            self.journal.append(entry)
        draft.certificate = Certificate.from_json(entry["certificate"])
        if not draft.certificate.accepted:
            failed = draft.certificate.failed
            assert failed is not None
            draft.refuse("refused", failed.name, "certificate", failed.message)

    def _decide(self, draft: Draft, known: DiversityFilter) -> None:
        assert draft.certificate is not None
        identity = self._identity(draft)
        draft.decision = known.decide(identity, draft.source, draft.certificate.fingerprint)
        if draft.decision.accepted:
            known.add(identity, draft.source, draft.certificate.fingerprint)
        else:
            draft.refuse(
                "duplicate", "diversity", draft.decision.stage, draft.decision.explanation
            )

    async def _probe(self, draft: Draft, entry: dict[str, Any] | None) -> None:
        if entry is None:
            identity = self._identity(draft)
            trials = schedule(
                self.probing.plays,
                seed=derive(self.work.seed, "probe", self.number),
                environment=identity,
            )
            try:
                async with self.work.pool.lease(draft.source) as jail:
                    plays = await asyncio.gather(
                        *(self._play(draft, identity, jail, trial) for trial in trials)
                    )
            except SandboxFault as fault:
                draft.refuse("faulted", "probe", "sandbox", str(fault))
                return
            entry = {
                "kind": "plays",
                "index": draft.index,
                "plays": [dataclasses.asdict(record) for record in plays],
            }
            self.journal.append(entry)
        draft.plays = [_play_record(values) for values in entry["plays"]]
        draft.standing = measure(
            self._identity(draft), self.work.policy.version, draft.plays, self.number
        )
        faults = Counter(record.fault for record in draft.plays if record.fault)
        share = faults.total() / len(draft.plays)
        finished = min(draft.standing.plays_unhinted, draft.standing.plays_hinted)
        if share > self.probing.max_fault_share or not finished:
            reason = faults.most_common(1)[0][0]
            detail = f"{faults.total()} of {len(draft.plays)} plays faulted"
            draft.refuse("refused", "probe", reason, detail)

    async def _play(self, draft: Draft, identity: str, jail: Any, trial: Trial) -> PlayRecord:
        name = f"{self.number}/{identity}/{trial.seed}/{trial.arm}"
        async with self._playing:
            episode = await play(
                self.work.policy,
                jail,
                seed=trial.seed,
                hint=draft.hint if trial.arm == "hinted" else None,
                sampling=Sampling(
                    self.solver.temperature,
                    self.solver.max_tokens,
                    derive(self.work.seed, "play", name),
                ),
                max_turns=self.solver.max_turns,
                prompt=self.solver.prompt,
            )
        return episode.record(
            id=name, environment=identity, purpose="probe", arm=trial.arm
        )

    def _identity(self, draft: Draft) -> str:
        assert draft.certificate is not None
        return environment_id(draft.certificate.setting, draft.source, draft.hint)

    def _publish(self, drafts: list[Draft], plan: dict[str, Any]) -> dict[str, Any]:
        version = plan["policy_version"]
        pay = REWARDS[self.work.settings.section(RewardConfig).kind]
        designs, environments, plays, standings = [], [], [], []
        for draft in drafts:
            reward: float | None = None if draft.outcome == "faulted" else 0.0
            if not draft.outcome:
                assert draft.standing is not None
                draft.outcome = "admitted"
                reward = pay(draft.standing.return_hinted, draft.standing.return_unhinted)
                environments.append(self._environment(draft, version))
                standings.append(draft.standing)
                plays += draft.plays
            designs.append(self._record(draft, version, reward))
        summary = summarise(designs, standings, plays)
        summary |= {"round": self.number, "policy_version": version, "seconds": self.seconds}
        self.work.store.publish(
            self.number,
            environments,
            designs,
            plays,
            standings,
            meta={
                "run": self.work.run,
                "seed": self.work.seed,
                "settings": self.work.settings.digest,
                **summary,
            },
        )
        return summary

    def _environment(self, draft: Draft, version: int) -> EnvironmentRecord:
        certificate, decision = draft.certificate, draft.decision
        assert certificate is not None and decision is not None
        return EnvironmentRecord(
            id=self._identity(draft),
            shard=self.number,
            setting=certificate.setting,
            skills=(draft.brief["skill"],),
            title=certificate.title,
            description=certificate.description,
            source=draft.source,
            hint=draft.hint,
            tools=json.dumps(certificate.tools) if certificate.tools else "",
            difficulty=draft.brief["level"],
            certificate=certificate.as_json(),
            policy_version=version,
            parents=tuple(draft.brief["like"]),
            document=draft.brief["document"],
            design=self._design_id(draft),
            digest=decision.digest,
            fingerprint=certificate.fingerprint,
            isolation=self.work.settings.section(SandboxConfig).isolation,
            decision=decision.as_json(),
        )

    def _design_id(self, draft: Draft) -> str:
        return f"{self.work.run}-{self.number:06d}-{draft.index:03d}"

    def _record(self, draft: Draft, version: int, reward: float | None) -> DesignRecord:
        return DesignRecord(
            id=self._design_id(draft),
            shard=self.number,
            brief=json.dumps(draft.brief),
            group=draft.brief["id"],
            prompt_ids=draft.prompt_ids,
            ids=draft.ids,
            logprobs=draft.logprobs,
            text=draft.text,
            text_only=False,
            temperature=self.designer.temperature,
            seed=draft.seed,
            policy_version=version,
            outcome=draft.outcome,
            stage=draft.stage,
            reason=draft.reason,
            detail=draft.detail,
            environment=self._identity(draft) if draft.outcome == "admitted" else "",
            reward=reward,
        )


def summarise(
    designs: list[DesignRecord], standings: list[StandingRecord], plays: list[PlayRecord]
) -> dict[str, Any]:
    """Return the figures of one shard, all of them computable again from what the shard stores.

    ``valid`` designs passed the certificate (duplicates of known environments included);
    ``learnable`` is the share of admitted environments with a mean unhinted return in [0.15, 0.85].
    """
    outcomes = Counter(design.outcome for design in designs)
    funnel = Counter(design.stage for design in designs if design.stage)
    rewards = [design.reward for design in designs if design.reward is not None]
    return {
        "designs": len(designs),
        "valid": outcomes["admitted"] + outcomes["duplicate"],
        "admitted": outcomes["admitted"],
        "duplicates": outcomes["duplicate"],
        "faulted": outcomes["faulted"],
        "refused_at": dict(funnel.most_common()),
        "return_unhinted": _mean([standing.return_unhinted for standing in standings]),
        "return_hinted": _mean([standing.return_hinted for standing in standings]),
        "regret": _mean([standing.regret for standing in standings]),
        "learnable": _mean([float(0.15 <= s.return_unhinted <= 0.85) for s in standings]),
        "designer_reward": _mean(rewards),
        "plays": len(plays),
        "faulted_plays": sum(play.episode_return is None for play in plays),
        "tokens": sum(len(design.ids) for design in designs) + sum(sum(p.mask) for p in plays),
    }


async def _retried(work: Callable[[], Awaitable[T]]) -> T:
    """Try again after a fault of ours; the last one is raised."""
    for attempt in range(ATTEMPTS):
        try:
            return await work()
        except SandboxFault:
            if attempt == ATTEMPTS - 1:
                raise
            await asyncio.sleep(0.1 * 2**attempt)
    raise OurFault("unreachable: the loop returns or raises")


def _play_record(values: dict[str, Any]) -> PlayRecord:
    return PlayRecord(
        **values
        | {name: tuple(values[name]) for name in ("ids", "mask", "logprobs")}
    )


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
