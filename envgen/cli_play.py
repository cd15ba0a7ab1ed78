"""The command ``play``: play an environment by hand in the terminal."""

import asyncio
import difflib
from pathlib import Path
from typing import Annotated, Any

import typer

from envgen.byhand import play_by_hand
from envgen.seeds import Seed
from envgen.seeds import load as load_seeds
from envgen.sourcefile import parse, read_source
from memory import EnvironmentRecord, MemoryConfig, Store
from sandbox import EnvironmentFault, Sandbox, SandboxConfig
from spadekit.cli import command, session
from spadekit.errors import BadInput


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "play")
    def play(
        ctx: typer.Context,
        env: Annotated[
            str, typer.Argument(help="A .py file, the name of a seed, or an id of the store.")
        ],
        seed: Annotated[int, typer.Option(help="Which instance to play.")] = 0,
        hint: Annotated[bool, typer.Option("--hint", help="Show the hint.")] = False,
    ) -> None:
        """Play an environment by hand in the terminal; `:hint` shows the hint meanwhile."""
        current = session(ctx)
        config = current.settings.section(SandboxConfig)
        found = resolve(
            env, current.home, current.settings.section(MemoryConfig), config.max_source_bytes
        )
        if hint:
            current.report.note(f"hint: {found.hint or 'this environment has none'}")
        try:
            reward = asyncio.run(
                play_by_hand(found.source, seed, Sandbox(config), current.report, hint=found.hint)
            )
        except EnvironmentFault as fault:
            raise BadInput(f"{env}: the environment fails: {fault}") from None
        except KeyboardInterrupt:
            current.report.note("left")
            raise typer.Exit(130) from None
        if current.report.as_json:
            current.report.data({"env": env, "seed": seed, "return": reward})


def resolve(env: str, home: Path, config: MemoryConfig, largest: int) -> Seed:
    """Return a file, a seed or a stored environment (id or its first digits) in one form.

    ``name`` is what it was asked for by; ``setting`` is empty for a file. Raises ``BadInput``.
    """
    if env.lower().endswith(".py") or "/" in env:
        file = parse(read_source(Path(env), largest))
        return Seed(Path(env).stem, "", file.skills, file.difficulty, file.source, file.hint)
    if seed := seed_of(env):
        return seed
    names = [seed.name for seed in load_seeds()]
    near = difflib.get_close_matches(env, names, n=1)
    meant = f"did you mean the seed `{near[0]}`?" if near else f"the seeds are {', '.join(names)}"
    if not config.uri and not (home / "store" / "store.json").is_file():
        raise BadInput(f"{env}: no such seed, and no store in {home}; {meant}")
    with Store.open(config.place(home), config) as store:
        try:
            return of_record(store.environment(env))
        except BadInput as error:
            raise BadInput(f"{error}; {meant}" if near else str(error)) from None


def seed_of(name: str) -> Seed | None:
    """Return the seed of that name, if there is one."""
    return next((seed for seed in load_seeds() if seed.name == name), None)


def of_record(record: EnvironmentRecord) -> Seed:
    """Return a stored environment in the form of a seed, named by its id."""
    return Seed(
        record.id, record.setting, record.skills, record.difficulty, record.source, record.hint
    )


def show_seed(name: str) -> dict[str, Any] | None:
    """Return what ``show`` prints of a seed, the source last."""
    seed = seed_of(name)
    if seed is None:
        return None
    return {
        "seed": seed.name,
        "setting": seed.setting,
        "skills": list(seed.skills),
        "difficulty": seed.difficulty,
        "hint": seed.hint,
        "source": seed.source,
    }
