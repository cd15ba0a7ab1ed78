"""What the pages and their API read from, made once for a service."""

from dataclasses import dataclass

from envgen.service.pages.catalogue import Catalogue
from envgen.service.pages.maker import MapMaker
from envgen.service.pages.sessions import Sessions
from envgen.service.state import Service
from memory import EnvironmentRecord
from memory.search import Hit
from sandbox import SandboxConfig
from spadekit.errors import BadInput

FEW = 64
"""Environments that a request may embed itself; more are left to the thread that draws the map."""


@dataclass(frozen=True)
class Context:
    """The service with its catalogue, its map and the plays by hand."""

    service: Service
    catalogue: Catalogue
    maker: MapMaker
    sessions: Sessions

    @classmethod
    def of(cls, service: Service) -> "Context":
        """Return the context of a service."""
        home = service.opened.versions.root.parent
        return cls(
            service,
            Catalogue(service.opened.store),
            MapMaker(service.opened.store, home / "atlas"),
            Sessions(service.worker.settings.section(SandboxConfig)),
        )

    async def close(self) -> None:
        """End the plays, and the map after the shard at hand."""
        self.maker.stop()
        await self.sessions.close()

    def environment(self, name: str) -> EnvironmentRecord | None:
        """Return the environment whose id starts with ``name``, None for none or several."""
        try:
            return self.service.opened.store.environment(name)
        except BadInput as error:
            if error.__cause__:  # what storage says
                raise
            return None

    @property
    def searchable(self) -> bool:
        """Whether a search by meaning can answer at once: hardly anything is left to embed."""
        return self.service.opened.store.unembedded() <= FEW

    def near(self, environment: str, limit: int) -> list[Hit]:
        """Return the neighbours of an environment; none while they cannot be had at once."""
        if not self.searchable:
            return []
        return self.service.opened.store.search(like=environment, limit=limit)

    def search(self, words: str, limit: int) -> list[str]:
        """Return the ids of the best matches; by words in titles while most is not embedded yet."""
        if self.searchable:
            hits = self.service.opened.store.search(words, limit=limit)
            return [hit.environment.id for hit in hits]
        wanted = words.lower().split()
        found = (
            one.id
            for one in self.catalogue.entries()
            if all(word in one.title.lower() for word in wanted)
        )
        return [one for one, _ in zip(found, range(limit), strict=False)]
