"""What a round works with: the store, the policy, the sandbox and the corpus, opened once."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from envgen.config import CorpusConfig, ProducerConfig
from envgen.corpus import Corpus
from envgen.publishable import require_publishable
from envgen.workers import LocalWorkers, Workers
from memory import MemoryConfig, Store
from sandbox import Message, Pool, Sandbox, SandboxConfig
from solver.config import PolicyConfig
from solver.engines import open_policy
from solver.policy import Policy
from solver.versions import Versions
from spadekit.home import producing
from spadekit.report import Report
from spadekit.settings import Settings


@dataclass(frozen=True)
class Workspace:
    """Open resources of one process. ``run`` names the folder under ``home/runs`` for journals."""

    home: Path
    run: str
    settings: Settings
    report: Report
    store: Store
    versions: Versions
    policy: Policy
    sandbox: Sandbox
    pool: Pool
    workers: Workers
    corpus: Corpus
    preferred_words: frozenset[str]

    @property
    def seed(self) -> int:
        """The root seed; every other seed is derived from it by name."""
        return self.settings.section(ProducerConfig).seed

    @property
    def run_dir(self) -> Path:
        """Journals and reports of this run."""
        return self.home / "runs" / self.run

    def tokens(self, text: str) -> int:
        """Count a text's tokens as the policy reads it."""
        start = self.policy.chat.start
        return len(start([Message("user", text)])) - len(start([Message("user", "")]))

    def journal(self, number: int) -> Path:
        """The journal of an unfinished round."""
        return self.run_dir / "rounds" / f"{number:06d}.jsonl"


@asynccontextmanager
async def open_workspace(
    home: Path,
    run: str,
    settings: Settings,
    report: Report,
    workers: Literal["local", "ray"] = "local",
) -> AsyncIterator[Workspace]:
    """Open the store and the newest policy version (made from the recipe's model when there is none).

    ``workers``: who certifies and plays in rounds. Raises ``BadInput`` for a store that cannot be
    written, damaged weights, an unreadable corpus or a cluster that cannot be joined, before anything
    long starts, and ``SandboxFault`` where environments cannot be run safely.
    """
    policy_config = settings.section(PolicyConfig)
    with producing(home):
        memory = settings.section(MemoryConfig)
        store = Store.open(memory.place(home), memory, create=True)
        # Brings in LanceDB, which takes its seconds, and what a kill left outside the tables.
        store.latest_standings()
        require_publishable(store, run, home)
        _drop_finished(store, run, home)
        versions = Versions(home / "policy")
        versions.bootstrap(policy_config)
        corpus = Corpus.open(settings.section(CorpusConfig), home / "corpus", report.note)
        try:
            async with (
                open_policy(versions.path(versions.latest()), policy_config, report.note) as policy,
                _jails(workers, settings.section(SandboxConfig)) as sandbox,
                Pool(sandbox) as pool,
                _crew(workers, settings, sandbox, pool, report) as crew,
            ):
                yield Workspace(
                    home=home,
                    run=run,
                    settings=settings,
                    report=report,
                    store=store,
                    versions=versions,
                    policy=policy,
                    sandbox=sandbox,
                    pool=pool,
                    workers=crew,
                    corpus=corpus,
                    preferred_words=_preferred_words(policy_config),
                )
        finally:
            store.close()


def _jails(
    workers: Literal["local", "ray"], config: SandboxConfig
) -> AbstractAsyncContextManager[Sandbox]:
    sandbox = Sandbox(config)
    # Where others run the environments, this host need not be able to.
    return sandbox if workers == "local" else nullcontext(sandbox)


def _crew(
    kind: Literal["local", "ray"], settings: Settings, sandbox: Sandbox, pool: Pool, report: Report
) -> AbstractAsyncContextManager[Workers]:
    producer = settings.section(ProducerConfig)
    if kind == "local":
        return nullcontext(LocalWorkers(sandbox, pool, producer.parallel_certificates))
    from envgen.workers.ray import ray_workers

    return ray_workers(
        producer.ray_address, sandbox.config, producer.parallel_certificates, report.note
    )


def _drop_finished(store: Store, run: str, home: Path) -> None:
    """Drop the journals of rounds that were published before a kill."""
    for number in store.numbers():
        (home / "runs" / run / "rounds" / f"{number:06d}.jsonl").unlink(missing_ok=True)


def _preferred_words(config: PolicyConfig) -> frozenset[str]:
    """Words that the embedded policy can copy; any other model copes with whatever comes."""
    if config.model != "embedded" or config.engine == "chat":
        return frozenset()
    return frozenset((files("solver") / "embedded" / "words.txt").read_text().split())
