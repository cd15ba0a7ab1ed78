"""What the routers share: the open home, the worker, the metrics and the rules of access."""

from dataclasses import dataclass, field
from time import monotonic
from typing import Annotated, Any

from fastapi import Depends, Header, HTTPException, Path, Query
from fastapi.security import HTTPBearer

from envgen.service.config import ServiceConfig
from envgen.service.guard import Rules
from envgen.service.metrics import Metrics
from envgen.service.models import Identity, Problem
from envgen.service.worker import Open, Worker
from spadekit.errors import BadInput


@dataclass(frozen=True)
class Service:
    """One running service."""

    opened: Open
    worker: Worker
    metrics: Metrics
    rules: Rules
    config: ServiceConfig
    began: float = field(default_factory=monotonic)


@dataclass(frozen=True)
class Window:
    """Which part of a list is asked for."""

    offset: int
    limit: int

    def of(self, items: list[Any]) -> list[Any]:
        """Return the part."""
        return items[self.offset : self.offset + self.limit]


def _window(
    offset: Annotated[int, Query(ge=0, le=100_000_000, description="Skip so many.")] = 0,
    limit: Annotated[int, Query(ge=1, le=200, description="Return at most so many.")] = 50,
) -> Window:
    return Window(offset, limit)


Part = Annotated[Window, Depends(_window)]
Name = Annotated[Identity, Path()]
ShardFilter = Annotated[int | None, Query(ge=1, le=999_999, description="Only this shard.")]


def absent(error: BadInput) -> Exception:
    """Return the answer to a name that names nothing or several; what storage says stays as it is."""
    return error if error.__cause__ else HTTPException(404, str(error))


def answers(*statuses: int, stream: bool = False) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of the ways in which a call can fail; any can for its Host or fields.

    A call that answers with a ``stream`` fails with JSON as well.
    """
    words = {
        401: "The token is missing or wrong.",
        403: "The header `X-Spadework` is missing, or a page of another site asks.",
        404: "There is no such thing.",
        409: "It cannot be done in the present state.",
        413: "The body is too large.",
        421: "The host name is not one of the service's.",
        422: "A field is wrong; `detail` says which and why.",
        429: "Too much at once; try again later.",
        503: "The store cannot be used, or the service is stopping.",
    }
    reference = {"schema": {"$ref": f"#/components/schemas/{Problem.__name__}"}}
    form = {"content": {"application/json": reference}} if stream else {"model": Problem}
    return {
        status: {**form, "description": words[status]}
        for status in sorted({421, 422, 503, *statuses})
    }


def changing(rules: Rules) -> list[Any]:
    """Return the dependencies that tell the documentation what a changing call must carry.

    The guard has seen to it before: here it only stands in the schema.
    """
    bearer = HTTPBearer(
        scheme_name="token", description="The token the service was started with.", auto_error=False
    )

    def marked(
        x_spadework: Annotated[
            str, Header(pattern="^1$", description="Always 1: no page of another site can send it.")
        ] = "1",
    ) -> None:
        """Nothing is left to do."""

    return [Depends(marked), *([Depends(bearer)] if rules.token else [])]
