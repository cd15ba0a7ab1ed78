"""The front door: the version and the ``spadework`` command, put together from each package."""

import sys

try:
    import traceback
    from importlib.metadata import version as distribution_version
    from pathlib import Path
    from typing import Annotated, Protocol, runtime_checkable

    import typer

    import bench.cli
    import envgen.cli
    import memory.cli
    import sandbox.cli
    import solver.cli
    import solver.cli_policy
    import solver.cli_template
    from bench.config import AblationConfig, HeldoutConfig, MemoryBenchConfig
    from bench.ladder.config import LadderConfig
    from bench.suites.config import SuitesConfig
    from envgen.cli_play import show_seed
    from envgen.config import (
        CorpusConfig,
        DesignerConfig,
        MonitorConfig,
        ProbeConfig,
        ProducerConfig,
        RewardConfig,
    )
    from envgen.publish.config import PublishConfig
    from envgen.service.config import ServiceConfig
    from memory.config import MemoryConfig
    from sandbox.config import SandboxConfig
    from solver.config import PolicyConfig, SolverConfig, SyncConfig, TrainConfig
    from solver.openrlhf.config import ClusterConfig
    from spadekit.cli import Front
    from spadekit.errors import BadInput, OurFault
    from spadekit.report import Report
except KeyboardInterrupt:  # they take a second or two, and nothing has begun
    sys.exit(130)

__version__ = distribution_version("spadework")

SECTIONS: dict[str, type] = {
    "sandbox": SandboxConfig,
    "memory": MemoryConfig,
    "policy": PolicyConfig,
    "solver": SolverConfig,
    "train": TrainConfig,
    "sync": SyncConfig,
    "cluster": ClusterConfig,
    "corpus": CorpusConfig,
    "designer": DesignerConfig,
    "probe": ProbeConfig,
    "reward": RewardConfig,
    "monitors": MonitorConfig,
    "producer": ProducerConfig,
    "service": ServiceConfig,
    "publish": PublishConfig,
    "heldout": HeldoutConfig,
    "ablation": AblationConfig,
    "ladder": LadderConfig,
    "bench_memory": MemoryBenchConfig,
    "suites": SuitesConfig,
}
"""Every section that a recipe may have, and the frozen dataclass that checks it."""

RECIPES = Path(__file__).parent / "configs"

app = typer.Typer(
    name="spadework",
    help="A language model writes its own training environments and gets better by playing them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _front(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    ctx.obj = Front(SECTIONS, RECIPES / "embedded.toml")


for _register in (
    sandbox.cli.register,
    envgen.cli.register,
    solver.cli.register,
    solver.cli_template.register,
    solver.cli_policy.register,
):
    _register(app)
memory.cli.register(app, named=show_seed)
bench.cli.register(app)


def main() -> None:
    """Run the command line; errors become one line on stderr and an exit code.

    With ``--json`` stdout gets them too, as one object: a program that reads it is never left without.
    """
    report = Report("--json" in sys.argv[1:])
    try:
        code = app(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except Exception as error:
        cause = _first(error)
        if isinstance(cause, Misuse):
            cause.show()
            report.failure(cause.format_message(), cause.exit_code)
        elif isinstance(cause, BadInput | OurFault):
            report.error(str(cause))
            report.failure(str(cause), 2 if isinstance(cause, BadInput) else 3)
        elif isinstance(cause, OSError):
            report.error(f"{type(cause).__name__}: {cause}")
            report.failure(f"{type(cause).__name__}: {cause}", 3)
        else:
            traceback.print_exception(cause)
            report.failure(f"{type(cause).__name__}: {cause}", 3)


@runtime_checkable
class Misuse(Protocol):
    """What the command-line library raises for arguments that it cannot use, or for none."""

    exit_code: int

    def format_message(self) -> str:
        """Say it in one line."""

    def show(self) -> None:
        """Say it on stderr, with what would help."""


def _first(error: BaseException) -> BaseException:
    """Return the error itself, or the first one of a task group that failed."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


if __name__ == "__main__":
    main()
