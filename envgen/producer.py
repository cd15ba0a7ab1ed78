"""One round of the dataset producer: brief, design, certify, measure, admit, publish a shard.

Every finished step is a line of the round's journal, so a killed round goes on where it was: what was
sampled, certified or played is not done again, and the shard appears whole or not at all.
"""

import asyncio
import dataclasses
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from envgen import playbook
from envgen.authoring import Authoring
from envgen.brief import Brief, make_briefs, render
from envgen.closing import close
from envgen.config import (
    CorpusConfig,
    DesignerConfig,
    ProbeConfig,
    ProducerConfig,
    RewardConfig,
)
from envgen.draft import Draft, Origin
from envgen.entries import Spent, of_round
from envgen.measuring import Measuring, as_entry, from_entry
from envgen.playbook import Playbook
from envgen.progress import Meter, Sink, billing
from envgen.reward import Averages
from envgen.workspace import Workspace
from memory import Manifest, MemoryConfig, measure
from memory.diversity import DiversityFilter
from sandbox import EnvironmentFault, Message, SandboxConfig, SandboxFault
from solver.config import PolicyConfig, SolverConfig
from solver.planning import standings_of
from solver.policy import Bill, is_whole
from spadekit.errors import BadInput, OurFault
from spadekit.files import Journal

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
LAPS = {"design": "design", "hint": "design", "certificate": "certify", "plays": "probe"}
"""The stage that a line of the journal belongs to."""


@dataclass
class _Place:
    """One of the designs that a round asks for, and where it is on its way."""

    draft: Draft
    chain: list[Draft] = field(default_factory=list)
    written: asyncio.Event = field(default_factory=asyncio.Event)
    decided: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def last(self) -> Draft:
        """The design or its last follow-up: the one that may be admitted."""
        return self.chain[-1]


class Round:
    """The work of one round. ``run()`` returns the summary that is stored in the shard's manifest.

    ``tell`` hears of every step.
    """

    def __init__(self, workspace: Workspace, number: int, version: int, tell: Sink) -> None:
        settings = workspace.settings
        self.work = workspace
        self.number = number
        self.version = version
        self.tell = tell
        self.producer = settings.section(ProducerConfig)
        self.designer = settings.section(DesignerConfig)
        self.probing = settings.section(ProbeConfig)
        self.solver = settings.section(SolverConfig)
        self.memory = settings.section(MemoryConfig)
        self.seconds: dict[str, float] = {}

    async def run(self) -> dict[str, Any]:
        """Finish the round, whatever of it was done before, and publish its shard.

        Raises ``BadInput`` for a round that was begun with other settings, ``OurFault`` when too many
        designs were lost through faults of ours.
        """
        self._began = time.monotonic()
        policy, path = self.work.policy, self.work.journal(self.number)
        self._forward = policy.forward_seconds
        self.journal = Journal(path, of_round)
        try:
            self._before = self._earlier()
            self._bill = billing(policy, self._before.bill)
            plan = self._plan()
            self.version = plan["policy_version"]
            # Also when it serves already, once it was used: rows kept from other work would change the
            # last bits. What was just opened is what its folder holds.
            if policy.version != self.version or policy.forward_seconds > 0:
                await policy.load(self.work.versions.path(self.version))
            self._meter = Meter(
                self.tell,
                shard=self.number,
                designs=self.producer.designs,
                spent_s=self._before.total_s,
                bill=self._bill,
            )
            self._meter.step("begun")
            drafts = await self._work(plan)
            manifest = self._publish(drafts, plan)
        finally:
            self.journal.close()
        path.unlink()
        self._meter.step("published")
        return summary_of(manifest)

    def _earlier(self) -> Spent:
        """Return what killed tries of this round took, up to the last thing that they wrote down."""
        spent = Spent()
        for entry in self.journal.entries:
            spent = Spent(*entry["spent"])
            self._lap(entry["kind"], spent)
        return spent

    def _spent(self) -> Spent:
        bill = self._bill() if self._bill else Bill()
        return Spent(
            self._before.tries + 1,
            self._before.total_s + time.monotonic() - self._began,
            self._before.forward_s + self.work.policy.forward_seconds - self._forward,
            *dataclasses.astuple(bill),
        )

    def _note(self, entry: dict[str, Any]) -> None:
        """Write something down that need not be done again."""
        spent = self._spent()
        self._lap(entry["kind"], spent)
        self.journal.append(entry | {"spent": dataclasses.astuple(spent)})

    def _lap(self, kind: str, spent: Spent) -> None:
        """Keep how long after the start a stage last finished something; stages overlap."""
        if kind in LAPS:
            self.seconds[LAPS[kind]] = spent.total_s

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
            return plan
        drawn = self._last("drawn")
        briefs = make_briefs(
            self.producer.designs // self.producer.designs_per_brief,
            self.designer,
            self.work.corpus,
            self.work.store,
            round_number=self.number,
            standings=standings_of(self.work.store, self.work.versions, self.version),
            seed=self.work.seed,
            drawn=drawn,
            tokens=self.work.tokens,
            playbook=self._playbook(),
            preferred=self.work.preferred_words,
        )
        plan = {
            "kind": "plan",
            "policy_version": self.version,
            "settings": digest,
            "briefs": [self._asked(brief) for brief in briefs],
            "drawn": self.work.corpus.drawn(drawn, [brief.setting for brief in briefs]),
        }
        self._note(plan)
        self.journal.sync()
        return plan

    def _asked(self, brief: Brief) -> dict[str, Any]:
        """Return what is asked for a brief. Raises ``BadInput`` when it leaves no room to answer."""
        messages = render(brief, self.designer.prompt, self.solver.max_turns, self.designer.hint)
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
        """Design, certify and measure, a bounded number of designs at once; decide in their order."""
        done: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
        for entry in self.journal.entries[1:]:
            done[entry["kind"], entry["index"]].append(entry)
        places = self._places(plan)
        authoring = Authoring(
            self.work,
            self.number,
            len(places),
            note=self._note,
            done=done,
            meter=self._meter,
        )
        measuring = Measuring(self.work, ("probe", self.number), self._meter)
        room = asyncio.Semaphore(self.producer.in_flight)
        known = self.work.store.diversity_filter()

        async def produce(place: _Place) -> None:
            # Taken in order, so the first place that is not decided yet always has room.
            async with room:
                place.chain = await authoring.author(place.draft)
                await self._embed(place.last)
                place.written.set()
                await asyncio.sleep(0)  # for a decision that waited for this design only
                if not place.last.outcome:
                    await self._probe(place, done["plays", place.last.index], measuring)

        async def decide() -> None:
            # What is compared must not depend on timing: all that the store knows is embedded first.
            if self.memory.measure_meaning:
                await asyncio.to_thread(self.work.store.embed)
            # In order of places, so that which of two twins is the variant does not depend on timing.
            for place in places:
                await place.written.wait()
                if not place.last.outcome:  # what plays come to is said after the decision only
                    self._decide(place.last, known)
                    self._meter.step("decided", fell=place.last.stage)
                place.decided.set()

        async with asyncio.TaskGroup() as group:
            for place in places:
                group.create_task(produce(place))
            group.create_task(decide())
        drafts = [draft for place in places for draft in place.chain]
        return sorted(drafts, key=lambda draft: draft.index)

    def _places(self, plan: dict[str, Any]) -> "list[_Place]":
        places: list[_Place] = []
        for asked in plan["briefs"]:
            messages = tuple(Message(role, content) for role, content in asked["messages"])
            prompt = tuple(self.work.policy.chat.start(messages))
            for _ in range(self.producer.designs_per_brief):
                number = len(places)
                places.append(_Place(Draft(number, number, asked["brief"], prompt, messages)))
        return places

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

    async def _probe(
        self, place: "_Place", entries: list[dict[str, Any]], measuring: Measuring
    ) -> None:
        """Measure a design, unless it is decided to be a duplicate.

        The plays begin before that is decided: the policy would have nothing to do while the slowest of
        the earlier places is certified. Those of a duplicate are given up.
        """
        draft = place.last
        playing = asyncio.create_task(self._play(draft, entries, measuring))
        try:
            await place.decided.wait()
            if not draft.outcome:
                self._settle(draft, await playing)
                self._meter.step("measured", fell=draft.stage)
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)

    async def _play(
        self, draft: Draft, entries: list[dict[str, Any]], measuring: Measuring
    ) -> SandboxFault | EnvironmentFault | None:
        """Play until the probe has seen enough; each batch of plays is journalled when done."""
        for entry in entries:
            draft.plays += from_entry(entry)
        try:
            await measuring.finish(
                draft.identity,
                draft.source,
                draft.hint,
                draft.plays,
                lambda records: self._note(as_entry(draft.index, records)),
            )
        except (SandboxFault, EnvironmentFault) as fault:
            return fault
        return None

    def _settle(self, draft: Draft, fault: SandboxFault | EnvironmentFault | None) -> None:
        """Say what the plays come to; too many faulted ones are a reason to refuse."""
        if isinstance(fault, SandboxFault):
            draft.refuse("faulted", "probe", "sandbox", str(fault))
            return
        if fault is not None:
            # It loaded for its certificate: a source that loads only sometimes.
            draft.refuse("refused", "probe", fault.reason, str(fault))
            return
        draft.standing = measure(draft.identity, self.version, draft.plays, self.number)
        faults = Counter(record.fault for record in draft.plays if record.fault)
        share = faults.total() / len(draft.plays)
        finished = min(draft.standing.plays_unhinted, draft.standing.plays_hinted)
        if share > self.probing.max_fault_share or not finished:
            reason = faults.most_common(1)[0][0]
            detail = f"{faults.total()} of {len(draft.plays)} plays faulted"
            draft.refuse("refused", "probe", reason, detail)

    def _publish(self, drafts: list[Draft], plan: dict[str, Any]) -> Manifest:
        """Write the shard. Raises ``OurFault`` when too many designs were lost through us."""
        faulted = [draft for draft in drafts if draft.outcome == "faulted"]
        if len(faulted) > MOST_FAULTED * len(drafts):
            raise OurFault(
                f"round {self.number}: {len(faulted)} of {len(drafts)} designs could not be judged "
                f"({faulted[0].detail}); nothing was published, run it again to go on"
            )
        settings = self.work.settings
        origin = Origin(
            self.work.run,
            self.number,
            self.version,
            self.designer.temperature,
            settings.section(SandboxConfig).isolation,
            self.work.policy.chat.text_only,
            {}
            if is_whole(self.designer)
            else {"top_p": self.designer.top_p, "top_k": self.designer.top_k},
        )
        closing = close(drafts, origin, settings, self._averages())
        spent = self._spent()
        self.seconds |= {
            "total": spent.total_s,
            "forward": spent.forward_s,
            "tries": spent.tries,
        }
        meta = {
            "run": self.work.run,
            "seed": self.work.seed,
            "config_digest": settings.digest,
            "round": self.number,
            "policy_version": self.version,
            **closing.meta,
            "drawn": plan["drawn"],
            "seconds": self.seconds,
        }
        if self._bill:
            bill = self._bill()
            meta["bill"] = dataclasses.asdict(bill)
            if origin.text_only:
                # Nothing is stored as tokens, so only the endpoint knows how many there were.
                meta["tokens"] = bill.sampled
        if self.designer.learning == "context":
            new = playbook.attempts(closing.designs, closing.environments, closing.standings)
            earlier = playbook.of_store(self.work.store, playbook.SHARDS - 1)
            meta["playbook"] = playbook.as_meta(playbook.write([*earlier, *new]))
        return self.work.store.publish(
            self.number,
            closing.environments,
            closing.designs,
            closing.plays,
            closing.standings,
            meta=meta,
        )

    def _playbook(self) -> Playbook:
        """Return what the rounds so far teach a designer that learns from its context."""
        if self.designer.learning != "context":
            return {}
        return playbook.write(playbook.of_store(self.work.store))

    def _averages(self) -> dict[str, Averages]:
        """Return the averages of each skill as the last round of any number left them."""
        return {skill: Averages(*pair) for skill, pair in self._last("averages").items()}

    def _last(self, name: str) -> dict[str, Any]:
        """Return what the newest shard that says something under ``name`` says."""
        manifests = reversed(self.work.store.shards())
        return next((one.meta[name] for one in manifests if name in one.meta), {})


def summary_of(manifest: Manifest) -> dict[str, Any]:
    """Return the figures of a published round."""
    return {**manifest.meta, "policy_version": manifest.policy_version}
