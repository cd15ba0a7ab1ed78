"""What a round works with: the store, the policy, the sandbox and the corpus, opened once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from envgen.config import CorpusConfig, ProducerConfig
from envgen.corpus import Corpus
from memory import MemoryConfig, Store
from sandbox import Pool, Sandbox, SandboxConfig
from solver.config import PolicyConfig
from solver.engines.local import LocalEngine
from solver.versions import Versions
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
    policy: LocalEngine
    sandbox: Sandbox
    pool: Pool
    corpus: Corpus | None
    preferred_words: frozenset[str]

    @property
    def seed(self) -> int:
        """The root seed; every other seed is derived from it by name."""
        return self.settings.section(ProducerConfig).seed

    @property
    def run_dir(self) -> Path:
        """Journals and reports of this run."""
        return self.home / "runs" / self.run


@asynccontextmanager
async def open_workspace(
    home: Path, run: str, settings: Settings, report: Report
) -> AsyncIterator[Workspace]:
    """Open the store and the newest policy version (made from the recipe's model when there is none).

    Raises ``BadInput`` for a store that cannot be written, damaged weights or an unreadable corpus,
    before anything long starts, and ``SandboxFault`` where environments cannot be run safely.
    """
    policy_config = settings.section(PolicyConfig)
    store = Store.open(home / "store", settings.section(MemoryConfig), create=True)
    versions = Versions(home / "policy")
    versions.bootstrap(policy_config)
    corpus_config = settings.section(CorpusConfig)
    corpus = Corpus.open(corpus_config)
    policy = LocalEngine.open(versions.path(versions.latest()), policy_config)
    try:
        async with Sandbox(settings.section(SandboxConfig)) as sandbox, Pool(sandbox) as pool:
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
                corpus=corpus,
                preferred_words=_preferred_words(policy_config),
            )
    finally:
        policy.close()
        store.close()


def _preferred_words(config: PolicyConfig) -> frozenset[str]:
    """Words that the embedded policy can copy; any other model copes with whatever comes."""
    if config.model != "embedded":
        return frozenset()
    return frozenset((files("solver") / "embedded" / "words.txt").read_text().split())
