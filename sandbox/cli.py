"""The command ``spadework doctor``: what works on this machine, what is missing, how to get it."""

from dataclasses import asdict

import typer

from sandbox.config import SandboxConfig
from sandbox.doctor import self_check, works
from spadekit.cli import command, session


def register(app: typer.Typer) -> None:
    """Add the sandbox's commands."""
    command(app, "doctor")(doctor)


def doctor(ctx: typer.Context) -> None:
    """Check the sandbox on this machine, layer by layer; exit 0 if it works, 1 if not."""
    run = session(ctx)
    layers = self_check(run.settings.section(SandboxConfig))
    if run.report.as_json:
        run.report.data([asdict(layer) for layer in layers])
    else:
        rows = [(layer.name, _verdict(layer.ok, layer.required), layer.detail) for layer in layers]
        run.report.table("Sandbox", ("layer", "state", "detail"), rows)
        for layer in layers:
            if not layer.ok:
                run.report.text(f"{layer.name}: {layer.how_to_fix}")
    if not works(layers):
        raise typer.Exit(1)


def _verdict(ok: bool, required: bool) -> str:
    if ok:
        return "works"
    return "missing" if required else "missing (weaker without)"
