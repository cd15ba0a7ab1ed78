"""The measuring commands: report, and ``bench`` with throughput, heldout, suites, ablation and ladder."""

from typing import Annotated, Literal

import typer

from spadekit.cli import command, session

MEASUREMENTS = (
    ("throughput", "every part against its peers, in one run"),
    ("heldout", "policy versions on the fixed held-out environments"),
    ("suites", "the paper's benchmarks: reasoning and tools"),
    ("ablation", "self-play against a fixed pool and a frozen designer, on held-out environments"),
    ("ladder", "every policy version on every shard, older and newer: ratings on one scale"),
)
EVERY_HELP = "First play the held-out set with every K-th policy version of the run (0: none)."


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""

    @command(app, "report")
    def report(
        ctx: typer.Context,
        run: Annotated[str, typer.Argument(help="Name of the run.")],
        heldout_every: Annotated[int, typer.Option(min=0, metavar="K", help=EVERY_HELP)] = 0,
    ) -> None:
        """Write one HTML page about a run: what both roles earn, designs, training, faults, time."""
        from bench.commands import report as work

        work(session(ctx), run, heldout_every)

    bench = typer.Typer(
        help=f"Measure: {', '.join(name for name, _ in MEASUREMENTS)}. Alone it lists what there is.",
        invoke_without_command=True,
        rich_markup_mode=None,
    )

    @bench.callback()
    def _list(ctx: typer.Context) -> None:
        if ctx.invoked_subcommand is None:
            for name, what in MEASUREMENTS:
                typer.echo(f"spadework bench {name:<12} {what}")

    @command(bench, "throughput")
    def throughput(
        ctx: typer.Context,
        only: Annotated[
            Literal["sandbox", "engine", "certificate", "probe", "train", "memory", "soak"] | None,
            typer.Option(help="Measure one part only."),
        ] = None,
    ) -> None:
        """Measure every part against its peers, all in one run; minutes, the last two parts most of them.

        Kept as JSON and Markdown under `bench/` in the home, after each part.
        """
        from bench.throughput import run

        run(session(ctx), only)

    @command(bench, "heldout")
    def heldout(
        ctx: typer.Context,
        version: Annotated[
            int | None, typer.Option(min=0, help="Policy version (default: the newest).")
        ] = None,
        run: Annotated[str, typer.Option(help="Run whose folder keeps the result.")] = "main",
    ) -> None:
        """Play the held-out set with one policy version; a stored result is shown as it is."""
        from bench.commands import heldout as work

        work(session(ctx), run, version)

    @command(bench, "suites")
    def suites(
        ctx: typer.Context,
        only: Annotated[
            list[str] | None,
            typer.Option(metavar="SUITE", help="Run this suite only; may be repeated."),
        ] = None,
        smoke: Annotated[
            bool,
            typer.Option("--smoke", help="Four questions of each, and a proof of each grader."),
        ] = False,
        prove: Annotated[
            bool,
            typer.Option("--prove", help="Mark reference answers and empty replies, ask nobody."),
        ] = False,
        version: Annotated[
            int | None, typer.Option(min=0, help="Policy version (default: the newest).")
        ] = None,
        policy: Annotated[
            str,
            typer.Option(
                metavar="MODEL", help="Judge this model (as policy.model) and not the home's."
            ),
        ] = "",
    ) -> None:
        """Run AIME, GPQA, LiveCodeBench, reasoning-gym and BFCL; tau2 and ACEBench are read.

        What was asked before is not asked again; stopped at any moment, the same command goes on.
        """
        from bench.suites.command import Wanted
        from bench.suites.command import run as work

        work(session(ctx), Wanted(tuple(only or ()), smoke, prove, version, policy))

    @command(bench, "ablation")
    def ablation(
        ctx: typer.Context,
        quick: Annotated[
            bool, typer.Option("--quick", help="One seed, two arms, eight rounds: 16 CPU-minutes.")
        ] = False,
    ) -> None:
        """Train the arms of `[ablation]` with equal steps and plays, and compare what they learned.

        May take hours; stopped at any moment, the same command goes on where each arm was.
        """
        from bench.ablation import run as work

        work(session(ctx), quick)

    @command(bench, "ladder")
    def ladder(
        ctx: typer.Context,
        run: Annotated[str, typer.Option(help="Run whose versions and shards take part.")] = "main",
    ) -> None:
        """Rate every policy version and every shard of a run on one scale: does learning go on?

        Plays that were made before are not made again; stopped at any moment, the same command goes on.
        """
        from bench.ladder import run as work

        work(session(ctx), run)

    app.add_typer(bench, name="bench")
