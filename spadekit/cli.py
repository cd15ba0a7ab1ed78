"""The options that every command takes, and what a command gets from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import typer
from typer.core import TyperCommand

from spadekit.report import Report
from spadekit.settings import Settings, load


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


class Command(TyperCommand):
    """A command with ``--json``, ``--config``, ``--set`` and ``--home``; its session is ``ctx.obj``."""

    def __init__(self, *args: Any, params: list[click.Parameter] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, params=[*(params or []), *_common()], **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Take the common options out of the parameters and open the session."""
        as_json = bool(ctx.params.pop("as_json"))
        config = ctx.params.pop("config")
        overrides = ctx.params.pop("overrides")
        home = ctx.params.pop("home")
        front = ctx.find_root().obj
        assert isinstance(front, Front)
        path = Path(config) if config else front.default_config
        settings = load(path, overrides, front.schema)
        ctx.obj = Session(Report(as_json), settings, Path(home))
        return super().invoke(ctx)


def session(ctx: typer.Context) -> Session:
    """Return the session of the running command."""
    assert isinstance(ctx.obj, Session)
    return ctx.obj


def _common() -> list[click.Parameter]:
    panel = {"rich_help_panel": "Common options"}
    option = typer.core.TyperOption
    return [
        option(param_decls=["--json", "as_json"], is_flag=True, help="Print JSON on stdout.", **panel),
        option(param_decls=["--config", "config"], metavar="FILE", help="Recipe (TOML).", **panel),
        option(
            param_decls=["--set", "overrides"],
            multiple=True,
            metavar="SECTION.KEY=VALUE",
            help="Override one setting; may be repeated.",
            **panel,
        ),
        option(
            param_decls=["--home", "home"],
            metavar="DIR",
            default="spadework-data",
            show_default=True,
            help="Where the store, policy versions and runs live.",
            **panel,
        ),
    ]
