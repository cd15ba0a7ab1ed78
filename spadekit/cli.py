"""The options that every command takes, and what a command gets from them."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from spadekit.home import begun
from spadekit.report import Report
from spadekit.settings import Settings, load

Function = TypeVar("Function", bound=Callable[..., Any])
PANEL = "Common options"


@dataclass(frozen=True)
class Front:
    """What the front door tells every command: the known sections and the default recipe."""

    schema: Mapping[str, type]
    default_config: Path


@dataclass(frozen=True)
class Session:
    """One run of a command."""

    report: Report
    settings: Settings
    home: Path
    given: tuple[str, ...] = ()
    """``--config`` and ``--set`` of this run, for a command that starts others."""
    schema: Mapping[str, type] = field(default_factory=dict)
    """The sections that its recipe may have."""

    def varied(self, overlays: Sequence[Path], overrides: Sequence[str]) -> Settings:
        """Return the settings of a command that is ``given`` the same and, after that, some more."""
        words = list(zip(self.given[::2], self.given[1::2], strict=True))
        path, *further = [Path(word) for option, word in words if option == "--config"]
        known = [word for option, word in words if option == "--set"]
        return load(path, [*known, *overrides], self.schema, [*further, *overlays])


def command(app: typer.Typer, name: str) -> Callable[[Function], Function]:
    """Add a command that also takes ``--json``, ``--config``, ``--set`` and ``--home``.

    The function's first parameter is ``ctx: typer.Context``; ``session(ctx)`` gives what the common
    options came to.
    """

    def add(function: Function) -> Function:
        own = inspect.signature(function)
        common = inspect.signature(_common).parameters

        @functools.wraps(function)
        def run(**values: Any) -> Any:
            ctx = values["ctx"]
            ctx.obj = _common(
                **{key: values.pop(key) for key in common if key != "front"},
                front=ctx.find_root().obj,
            )
            with begun(ctx.obj.home):
                return function(**values)

        added = [parameter for key, parameter in common.items() if key != "front"]
        parameters = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in (*own.parameters.values(), *added)
        ]
        run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        app.command(name)(run)
        return function

    return add


def session(ctx: typer.Context) -> Session:
    """Return the session of the running command."""
    assert isinstance(ctx.obj, Session)
    return ctx.obj


def _common(
    *,
    front: Front,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON on stdout.", rich_help_panel=PANEL)
    ] = False,
    config: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Recipe (TOML). Further ones are laid over the first in order.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SECTION.KEY=VALUE",
            help="Override one setting; may be repeated.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    home: Annotated[
        str,
        typer.Option(
            metavar="DIR",
            help="Where the store, policy versions and runs live.",
            rich_help_panel=PANEL,
        ),
    ] = "spadework-data",
) -> Session:
    """Open the session that the common options describe; its signature declares them."""
    path, *overlays = [Path(one) for one in config or ()] or [front.default_config]
    settings = load(path, overrides or (), front.schema, overlays)
    given = [word for one in (path, *overlays) for word in ("--config", str(one))]
    given += [word for one in overrides or () for word in ("--set", one)]
    return Session(Report(as_json), settings, Path(home), tuple(given), front.schema)
