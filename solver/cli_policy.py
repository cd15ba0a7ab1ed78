"""The command ``spadework policy smollm2``: makes the laptop's second policy, once."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from solver.config import TrainConfig
from spadekit.cli import Session, command, session
from spadekit.errors import BadInput
from spadekit.files import exclusive

EVERY = 25
"""Steps between two notes, where nobody watches a terminal."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    policies = typer.Typer(help="Policies made of models from elsewhere.", no_args_is_help=True)
    command(policies, "smollm2")(_smollm2)
    app.add_typer(policies, name="policy")


def _smollm2(
    ctx: typer.Context,
    folder: Annotated[
        Path, typer.Argument(help="Where the policy goes; the recipe smollm2.toml looks there.")
    ] = Path("models/SmolLM2-135M"),
    steps: Annotated[
        int | None,
        typer.Option(
            help="Make the adapter again in so many steps, 9 s of one core each; the one that ships "
            "took 320.",
            min=1,
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of such a warm-up. Default: 0.", min=0)] = None,
    adapter: Annotated[
        Path | None, typer.Option(help="Take this adapter, made by an earlier warm-up.")
    ] = None,
) -> None:
    """SmolLM2-135M-Instruct, taught to design and to play here: converts it and adds an adapter to it.

    The adapter ships; with ``--steps`` another is trained. Killed, it goes on where it was. Needs two
    packages, which it names where they are missing.
    """
    here = session(ctx)
    if adapter is not None and steps is not None:
        raise BadInput("--adapter trains nothing: leave --steps out")
    if seed is not None and steps is None:
        raise BadInput("--seed is of a warm-up: give --steps as well, or leave it out")
    facts = _make(here, folder, steps, seed or 0, adapter)
    here.report.record("policy", {"folder": str(folder), **facts})


def _make(
    here: Session, folder: Path, steps: int | None, seed: int, adapter: Path | None
) -> dict[str, Any]:
    from solver.smollm2 import convert
    from solver.smollm2.assemble import SHIPPED, assemble
    from solver.smollm2.warmup import Recipe, warm_up

    note = here.report.note
    plain, work = (folder.with_name(f"{folder.name}.{part}") for part in ("plain", "warm-up"))
    if folder.exists():
        convert.check(folder)
        note(f"{folder} is there already; remove it to have it made again, with more --steps say")
        return _facts(folder)
    if plain.exists():
        convert.check(plain)
    else:
        gguf = convert.find_gguf()
    with exclusive(work / "lock", f"another process is making {folder}"):
        if not plain.exists():
            note(f"converting {gguf.name} (half a minute of one core)")
            convert.convert(gguf, plain)
        if steps is not None:
            threads = here.settings.section(TrainConfig).threads
            recipe = Recipe(seed=seed, threads=threads, steps=steps)
            with _Watched(here, steps) as watched:
                adapter = warm_up(plain, work, recipe, watched.told)
        return assemble(plain, adapter or SHIPPED, folder)


def _facts(folder: Path) -> dict[str, Any]:
    from solver import manifest

    told = json.loads((folder / manifest.NAME).read_text("utf-8"))
    return dict(told["run"])


class _Watched:
    """Shows how the warm-up goes: a bar on a terminal, else a line now and then."""

    def __init__(self, here: Session, steps: int) -> None:
        self._report, self._steps = here.report, steps
        self._progress = here.report.progress()

    def __enter__(self) -> "_Watched":
        self._progress.start()
        self._task = self._progress.add_task("warm-up", total=self._steps, note="")
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def told(self, facts: Any) -> None:
        """Hear of a step."""
        loss = ", ".join(f"{role} {value:.2f}" for role, value in facts.loss.items())
        said = f"nats a token: {loss}; {facts.tokens / facts.spent_s:.0f} tokens/s"
        self._progress.update(self._task, completed=facts.step, note=said)
        if self._progress.disable and facts.step % EVERY == 0:
            self._report.note(f"step {facts.step} of {self._steps}, {said}")
