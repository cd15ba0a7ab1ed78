"""One round of the dataset producer: brief, design, certify, measure, admit, publish a shard.

Every finished step is a line of the round's journal, so a killed round goes on where it was: what was
sampled, certified or played is not done again, and the shard appears whole or not at all.
"""

import asyncio
import dataclasses
import time
from collections import Counter, defaultdict
from typing import Any

import numpy as np

from envgen.brief import Brief, make_briefs, render
from envgen.certificate import Certificate, certify
from envgen.config import (
    CorpusConfig,
    DesignerConfig,
    ProbeConfig,
    ProducerConfig,
    RewardConfig,
)
from envgen.designer import Unreadable, read_design
from envgen.draft import Draft, Origin
from envgen.measuring import Measuring, as_entry, from_entry, retried, sampled
from envgen.progress import Meter, Sink
from envgen.reward import Averages, designer_reward
from envgen.summary import summarise
from envgen.workspace import Workspace
from memory import Manifest, MemoryConfig, measure
from memory.diversity import DiversityFilter
from memory.variety import variety
from sandbox import EnvironmentFault, Message, SandboxConfig, SandboxFault
from solver.config import PolicyConfig, SolverConfig
from solver.policy import Sampling
from spadekit.errors import BadInput, OurFault
from spadekit.files import Journal
from spadekit.seeds import derive

MOST_FAULTED = 0.25
"""A round with a larger share of designs lost through faults of ours is given up, not published."""
SHAPING = (
    CorpusConfig,
    DesignerConfig,
    MemoryConfig,
    PolicyConfig,
    ProbeConfig,
    ProducerConfig,
    RewardConfig,
    SandboxConfig,
    SolverConfig,
)
"""The settings that a round depends on; a round that was begun is finished with the same ones."""
REQUIRED = ("solvable", "hint")
"""Checks that the designer must pass: a design of its own without a solution or a hint is refused."""


class Round:
    """The work of one round. ``run()`` returns the summary that is stored in the shard's manifest.

    ``tell`` hears of every step.
    """

    def __init__(self, workspace: Workspace, number: int, tell: Sink) -> None:
        settings = workspace.settings
        self.work = workspace
        self.number = number
        self.producer = settings.section(ProducerConfig)
        self.designer = settings.section(DesignerConfig)
        self.probing = settings.section(ProbeConfig)
        self.solver = settings.section(SolverConfig)
        self.memory = settings.section(MemoryConfig)
        self.seconds: dict[str, float] = {}
        self._certifying = asyncio.Semaphore(self.producer.parallel_certificates)
        self._measuring = Measuring(workspace, ("probe", number))
        self._meter = Meter(tell, shard=number, designs=self.producer.designs)

    async def run(self) -> dict[str, Any]:
        """Finish the round, whatever of it was done before, and publish its shard."""
        self._started = time.monotonic()
        forward = self.work.policy.forward_seconds
        path = self.work.journal(self.number)
        self.journal = Journal(path)
        try:
            plan = self._plan()
            await self.work.policy.load(self.work.versions.path(plan["policy_version"]))
            self._meter.step("begun")
            drafts = await self._work(plan)
            self.seconds["forward"] = self.work.policy.forward_seconds - forward
            self._lap("total")
            manifest = self._publish(drafts, plan)
        finally:
            self.journal.close()
        path.unlink()
        self._meter.step("published")
        return summary_of(manifest)

    def _lap(self, stage: str) -> None:
        """Note how long after the start the stage last finished something; stages overlap."""
        self.seconds[stage] = time.monotonic() - self._started

    def _plan(self) -> dict[str, Any]:
        """Return the round's plan, made and journalled once: a resumed round keeps its briefs."""
        digest = self.work.settings.digest_of(*SHAPING)
        if self.journal.entries:
            plan = self.journal.entries[0]
            if plan["settings"] != digest:
                raise BadInput(
                    f"round {self.number} was begun with other settings: finish it with those, or "
                    f"remove {self.journal.path} to begin it again"
                )
            self.seconds["resumed"] = 1.0
            return plan
        version = self.work.policy.version
        drawn = self._last("drawn")
        briefs = make_briefs(
            self.producer.designs // self.producer.designs_per_brief,
            self.designer,
            self.work.corpus,
            self.work.store,
            round_number=self.number,
            policy_version=version,
            seed=self.work.seed,
            drawn=drawn,
            tokens=self.work.tokens,
            preferred=self.work.preferred_words,
        )
        plan = {
            "kind": "plan",
            "policy_version": version,
            "settings": digest,
            "briefs": [self._asked(brief) for brief in briefs],
            "drawn": self.work.corpus.drawn(drawn, [brief.setting for brief in briefs]),
        }
        self.journal.append(plan)
        self.journal.sync()
        return plan

    def _asked(self, brief: Brief) -> dict[str, Any]:
        """Return what is asked for a brief. Raises ``BadInput`` when it leaves no room to answer."""
        messages = render(brief, self.designer.prompt, self.solver.max_turns)
        asked = len(self.work.policy.chat.start(messages))
        context = self.work.policy.context
        if asked + self.designer.max_tokens > context:
            raise BadInput(
                f"a brief of {asked} tokens and designer.max_tokens = {self.designer.max_tokens} "
                f"exceed the model's context of {context}; lower designer.max_tokens, or ask with "
                'designer.prompt = "short"'
            )
        return {
            "brief": brief.as_dict(self.designer.prompt),
            "messages": [[message.role, message.content] for message in messages],
        }

    async def _work(self, plan: dict[str, Any]) -> list[Draft]:
        """Design and certify as completions come; decide in order; measure as soon as admitted."""
        drafts: list[Draft] = []
        for asked in plan["briefs"]:
            messages = tuple(Message(role, content) for role, content in asked["messages"])
            for _ in range(self.producer.designs_per_brief):
                drafts.append(Draft(len(drafts), asked["brief"], messages))
        done: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
        for entry in self.journal.entries[1:]:
            done[entry["kind"], entry["index"]].append(entry)
        known = self.work.store.diversity_filter()

        async def author(draft: Draft) -> None:
            try:
                await self._design(draft, *done["design", draft.index])
                await self._certify(draft, *done["certificate", draft.index])
                await self._embed(draft)
            finally:
                draft.certified.set()

        async def admit() -> None:
            # What is compared must not hang on timing: all that the store knows is embedded first.
            if self.memory.measure_meaning:
                await asyncio.to_thread(self.work.store.embed)
            # In order of index, so that which of two twins is the variant does not hang on timing.
            for draft in drafts:
                await draft.certified.wait()
                if not draft.outcome:
                    self._decide(draft, known)
                    self._meter.step("decided", fell=draft.stage)
                if not draft.outcome:
                    group.create_task(self._probe(draft, done["plays", draft.index]))

        async with asyncio.TaskGroup() as group:
            for draft in drafts:
                group.create_task(author(draft))
            group.create_task(admit())
        return drafts

    async def _design(self, draft: Draft, entry: dict[str, Any] | None = None) -> None:
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
        draft.text = chat.decode(draft.ids)
        design = read_design(draft.text, entry["stop"])
        if isinstance(design, Unreadable):
            draft.refuse("refused", "read", design.reason, design.detail)
        else:
            draft.source, draft.hint = design.source, design.hint
        self._lap("design")
        self._meter.step("designed", fell=draft.stage, tokens=len(draft.ids))

    async def _certify(self, draft: Draft, entry: dict[str, Any] | None = None) -> None:
        if draft.outcome:
            return
        if entry is None:
            try:
                async with self._certifying:
                    certificate = await retried(
                        lambda: certify(
                            draft.source, draft.hint, self.work.sandbox, required=REQUIRED
                        )
                    )
            except SandboxFault as fault:
                draft.refuse("faulted", "certificate", "sandbox", str(fault))
                self._meter.step("certified", fell=draft.stage)
                return
            entry = {
                "kind": "certificate",
                "index": draft.index,
                "certificate": certificate.as_json(),
            }
            self.journal.append(entry)
        draft.certificate = Certificate.from_json(entry["certificate"])
        failed, wanted = draft.certificate.failed, draft.brief["setting"]
        if failed is not None:
            draft.refuse("refused", failed.name, "certificate", failed.message)
        elif draft.certificate.setting != wanted:
            detail = f"the brief asked for setting {wanted}, this is {draft.certificate.setting}"
            draft.refuse("refused", "setting", "brief", detail)
        self._lap("certify")
        self._meter.step("certified", fell=draft.stage)

    async def _embed(self, draft: Draft) -> None:
        """Measure the meaning of a certified design, beside whatever else the round is doing."""
        if self.memory.measure_meaning and not draft.outcome:
            embedder = self.work.store.embedder
            draft.embedding = await asyncio.to_thread(embedder.embed_query, draft.about)

    def _decide(self, draft: Draft, known: DiversityFilter) -> None:
        assert draft.certificate is not None
        fingerprint = draft.certificate.fingerprint
        decision = known.decide(draft.identity, draft.source, fingerprint, draft.embedding)
        draft.decision = decision
        if decision.accepted:
            known.add(draft.identity, draft.source, fingerprint, draft.embedding)
        else:
            draft.refuse("duplicate", "diversity", decision.stage, decision.explanation)

    async def _probe(self, draft: Draft, entries: list[dict[str, Any]]) -> None:
        """Play until the probe has seen enough; each batch of plays is journalled when done."""
        for entry in entries:
            draft.plays += from_entry(entry)
        try:
            await self._measuring.finish(
                draft.identity,
                draft.source,
                draft.hint,
                draft.plays,
                lambda records: self.journal.append(as_entry(draft.index, records)),
            )
            self._settle(draft)
        except SandboxFault as fault:
            draft.refuse("faulted", "probe", "sandbox", str(fault))
        except EnvironmentFault as fault:
            # It loaded for its certificate: a source that loads only sometimes.
            draft.refuse("refused", "probe", fault.reason, str(fault))
        plays, tokens = len(draft.plays), sampled(draft.plays)
        self._meter.step("measured", fell=draft.stage, plays=plays, tokens=tokens)

    def _settle(self, draft: Draft) -> None:
        """Say what the plays come to; too many faulted ones are a reason to refuse."""
        version = self.work.policy.version
        draft.standing = measure(draft.identity, version, draft.plays, self.number)
        faults = Counter(record.fault for record in draft.plays if record.fault)
        share = faults.total() / len(draft.plays)
        finished = min(draft.standing.plays_unhinted, draft.standing.plays_hinted)
        if share > self.probing.max_fault_share or not finished:
            reason = faults.most_common(1)[0][0]
            detail = f"{faults.total()} of {len(draft.plays)} plays faulted"
            draft.refuse("refused", "probe", reason, detail)
        self._lap("probe")

    def _publish(self, drafts: list[Draft], plan: dict[str, Any]) -> Manifest:
        """Write the shard. Raises ``OurFault`` when too many designs were lost through us."""
        faulted = sum(draft.outcome == "faulted" for draft in drafts)
        if faulted > MOST_FAULTED * len(drafts):
            detail = next(draft.detail for draft in drafts if draft.outcome == "faulted")
            raise OurFault(
                f"round {self.number}: {faulted} of {len(drafts)} designs could not be judged "
                f"({detail}); nothing was published, run it again to go on"
            )
        settings, version = self.work.settings, plan["policy_version"]
        kind = settings.section(RewardConfig).kind
        before = self._averages()
        after = dict(before)
        origin = Origin(
            self.work.run,
            self.number,
            version,
            self.designer.temperature,
            settings.section(SandboxConfig).isolation,
            self.work.policy.chat.text_only,
        )
        designs, environments, plays, standings = [], [], [], []
        for draft in drafts:
            # An invalid design earns 0, so validity is learned. A fault of ours teaches nothing, and a
            # duplicate is neither paid nor punished: diversity is for admission, never in the reward.
            reward: float | None = 0.0 if draft.outcome == "refused" else None
            if not draft.outcome:
                assert draft.standing is not None
                draft.outcome = "admitted"
                skill, unhinted = draft.brief["skill"], draft.standing.return_unhinted
                reward = designer_reward(
                    kind, draft.standing.return_hinted, unhinted, before.get(skill, Averages())
                )
                after[skill] = after.get(skill, Averages()).after(unhinted)
                environments.append(draft.environment(origin))
                standings.append(draft.standing)
                plays += draft.plays
            designs.append(draft.design(origin, reward))
        meta = {
            "run": self.work.run,
            "seed": self.work.seed,
            "config_digest": settings.digest,
            "round": self.number,
            "policy_version": version,
            **summarise(designs, standings, plays),
            "averages": {skill: dataclasses.astuple(one) for skill, one in after.items()},
            "drawn": plan["drawn"],
            "variety": self._variety([one for one in drafts if one.outcome == "admitted"]),
            "seconds": self.seconds,
        }
        return self.work.store.publish(
            self.number, environments, designs, plays, standings, meta=meta
        )

    def _averages(self) -> dict[str, Averages]:
        """Return the averages of each skill as the last round of any number left them."""
        return {skill: Averages(*pair) for skill, pair in self._last("averages").items()}

    def _last(self, name: str) -> dict[str, Any]:
        """Return what the newest shard that says something under ``name`` says."""
        manifests = reversed(self.work.store.shards())
        return next((one.meta[name] for one in manifests if name in one.meta), {})

    def _variety(self, admitted: list[Draft]) -> dict[str, Any]:
        meanings = [one.embedding for one in admitted if one.embedding is not None]
        novelties = [one.decision.novelty for one in admitted if one.decision is not None]
        found = variety(
            np.stack(meanings) if meanings else None,
            [value for value in novelties if value is not None],
            self.memory.collapse_below,
        )
        return dataclasses.asdict(found)


def summary_of(manifest: Manifest) -> dict[str, Any]:
    """Return the figures of a published round."""
    return {**manifest.meta, "policy_version": manifest.policy_version}
