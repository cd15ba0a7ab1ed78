"""The front door: the version and the ``spadework`` command, put together from each package."""

import sys
from importlib import import_module
from importlib.metadata import version as distribution_version
from pathlib import Path
from typing import Annotated

import click
import typer

from bench.config import HeldoutConfig
from envgen.config import (
    CorpusConfig,
    DesignerConfig,
    ProbeConfig,
    ProducerConfig,
    RewardConfig,
)
from memory.config import MemoryConfig
from sandbox.config import SandboxConfig
from solver.config import PolicyConfig, SolverConfig, SyncConfig, TrainConfig
from spadekit.cli import Front
from spadekit.errors import BadInput, OurFault
from spadekit.report import Report

__version__ = distribution_version("spadework")

SECTIONS: dict[str, type] = {
    "sandbox": SandboxConfig,
    "memory": MemoryConfig,
    "policy": PolicyConfig,
    "solver": SolverConfig,
    "train": TrainConfig,
    "sync": SyncConfig,
    "corpus": CorpusConfig,
    "designer": DesignerConfig,
    "probe": ProbeConfig,
    "reward": RewardConfig,
    "producer": ProducerConfig,
    "heldout": HeldoutConfig,
}
"""Every section that a recipe may have, and the frozen dataclass that checks it."""

RECIPES = Path(__file__).parent / "configs"
COMMANDS = ("sandbox.cli", "envgen.cli", "solver.cli", "memory.cli", "bench.cli")

app = typer.Typer(
    name="spadework",
    help="A language model writes its own training environments and gets better by playing them.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback()
def _front(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    ctx.obj = Front(SECTIONS, RECIPES / "embedded.toml")
    if version:
        typer.echo(__version__)
        raise typer.Exit


for _module in COMMANDS:
    import_module(_module).register(app)


def main() -> None:
    """Run the command line; errors become one line on stderr and an exit code."""
    from sandbox import SandboxFault

    code = 0
    try:
        code = app(standalone_mode=False) or 0
    except click.exceptions.Abort:
        code = 130
    except click.ClickException as error:
        error.show()
        code = 2
    except BadInput as error:
        Report().error(str(error))
        code = 2
    except (OurFault, SandboxFault) as error:
        Report().error(str(error))
        code = 3
    except KeyboardInterrupt:
        Report().note("interrupted; run the same command again to go on from here")
        code = 130
    except BrokenPipeError:
        code = 0
    sys.exit(code)


if __name__ == "__main__":
    main()
