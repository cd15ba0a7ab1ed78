"""Stored environments played again with another policy version: plays appended, standings recorded.

Each finished batch of plays is a line of a journal, so a killed measurement goes on where it was. The
plays reach the store together at the end, under ids that say who played what: twice is once.
"""

from collections import defaultdict
from collections.abc import Sequence

from envgen.config import ProbeConfig, ProducerConfig
from envgen.entries import of_measurement
from envgen.measuring import Measuring, as_entry, from_entry
from envgen.progress import Meter, Sink, billing
from envgen.workspace import Workspace
from memory import EnvironmentRecord, PlayRecord, StandingRecord, measure
from sandbox import EnvironmentFault, SandboxConfig, SandboxFault
from solver.config import PolicyConfig, SolverConfig
from spadekit.errors import OurFault
from spadekit.files import Journal
from spadekit.tasks import together

SHAPING = (PolicyConfig, ProbeConfig, ProducerConfig, SandboxConfig, SolverConfig)
"""The settings that plays depend on; a measurement begun with others is begun again."""


class Remeasure:
    """Measures ``environments`` (full ids) with the policy version that serves."""

    def __init__(self, work: Workspace, name: str, environments: Sequence[str], tell: Sink) -> None:
        self.work = work
        self.environments = tuple(environments)
        self.version = work.policy.version
        self.path = work.run_dir / "measurements" / f"{name}.jsonl"
        digest = work.settings.digest_of(*SHAPING)
        self._begun = {"kind": "plan", "settings": digest, "version": self.version}
        self._meter = Meter(tell, to_measure=len(self.environments), bill=billing(work.policy))
        self._measuring = Measuring(work, ("stock", self.version, digest), self._meter)

    async def run(self) -> list[StandingRecord]:
        """Finish the measurement and return the standings, one for each environment in order.

        Raises ``OurFault`` when environments cannot be run; what was played is kept.
        """
        journal = self._open()
        try:
            self._meter.step("begun")
            done: dict[int, list[PlayRecord]] = defaultdict(list)
            for entry in journal.entries[1:]:
                done[entry["index"]] += from_entry(entry)
            found = self.work.store.environments(ids=self.environments)
            sources = {one.id: one for one in found}
            await together(
                self._one(sources[name], index, done[index], journal)
                for index, name in enumerate(self.environments)
                if name in sources
            )
            updated = journal.entries[0]["updated"]
        except SandboxFault as fault:
            raise OurFault(f"environments cannot be run: {fault}") from fault
        finally:
            journal.close()
        # An environment that could not be played has no plays: its standing is then `unmeasured`.
        standings = [
            measure(name, self.version, done[index], updated)
            for index, name in enumerate(self.environments)
        ]
        self.work.store.append_plays([record for plays in done.values() for record in plays])
        self.work.store.upsert_standings(standings)
        self.path.unlink()
        self._meter.step("published")
        return standings

    def _open(self) -> Journal:
        journal = Journal(self.path, of_measurement)
        if journal.entries and self._begun.items() <= journal.entries[0].items():
            return journal
        if journal.entries:
            journal.close()
            self.path.unlink()
            journal = Journal(self.path, of_measurement)
        journal.append({**self._begun, "updated": self._updated()})
        return journal

    def _updated(self) -> int:
        """Return a counter above that of any figure these environments have with any version."""
        latest = self.work.store.latest_standings()
        known = (latest[name].updated for name in self.environments if name in latest)
        return 1 + max(known, default=0)

    async def _one(
        self, environment: EnvironmentRecord, index: int, plays: list[PlayRecord], journal: Journal
    ) -> None:
        def keep(records: list[PlayRecord]) -> None:
            journal.append(as_entry(index, records))

        try:
            await self._measuring.finish(
                environment.id, environment.source, environment.hint, plays, keep
            )
        except EnvironmentFault:
            plays.clear()  # it loads only sometimes: there is nothing to learn from it
        self._meter.step("measured")
