"""The command ``export``: write an environment in another ecosystem's convention."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from envgen.cli_play import resolve
from envgen.export import KINDS, Exportable, render
from envgen.seeds import Seed
from memory import MemoryConfig
from sandbox import EnvironmentFault, Sandbox, SandboxConfig
from spadekit.cli import command, session
from spadekit.errors import BadInput
from spadekit.files import folder_atomic, write_atomic


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "export")
    def export(
        ctx: typer.Context,
        env: Annotated[
            str, typer.Argument(help="An id of the store, a .py file, or the name of a seed.")
        ],
        to: Annotated[str, typer.Option(help=f"One of {', '.join(KINDS)}.", metavar="KIND")],
        out: Annotated[
            Path | None,
            typer.Option(help="Folder to write into; default: here.", metavar="DIR"),
        ] = None,
    ) -> None:
        """Write an environment as a runnable folder of another ecosystem, or as a plain file."""
        current = session(ctx)
        config = current.settings.section(SandboxConfig)
        if to not in KINDS:
            raise BadInput(f"--to {to}: use one of {', '.join(KINDS)}")
        found = resolve(
            env, current.home, current.settings.section(MemoryConfig), config.max_source_bytes
        )
        try:
            exportable = asyncio.run(_described(found, config))
        except EnvironmentFault as fault:
            raise BadInput(f"{env}: the environment does not load: {fault}") from None
        written = save(out or Path(), exportable, to)
        if current.report.as_json:
            current.report.data({"env": env, "to": to, "path": str(written)})
        else:
            current.report.text(str(written))
            if to != "source":
                current.report.note(
                    "running it runs the program in your process, outside the sandbox"
                )


def save(out: Path, env: Exportable, to: str) -> Path:
    """Write an export below ``out``; return its file or folder.

    The same export that is there already is left as it is. Raises ``BadInput`` where something else
    is in the way: it may have been edited, and nothing of it is lost.
    """
    made = render(env, to)
    target = out / (f"{env.slug}.py" if to == "source" else env.slug)
    folder = target.parent if to == "source" else target
    try:
        if target.exists():
            other = next(
                (name for name, text in made.items() if not _holds(folder / name, text)), ""
            )
            if other:
                raise BadInput(
                    f"{folder / other} is not what this export writes there (edited, of another "
                    f"environment, or of another version): move {target} away, or name another --out"
                )
            return target
        if to == "source":
            write_atomic(target, made[target.name].encode())
            return target
        with folder_atomic(target) as folder:
            for name, text in made.items():
                path = folder / name
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(text.encode())
    except OSError as error:
        raise BadInput(f"{target} cannot be written: {error.strerror or error}") from None
    return target


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


async def _described(found: Seed, config: SandboxConfig) -> Exportable:
    """Ask the source, in its jail, what it is."""
    async with Sandbox(config) as sandbox, await sandbox.open(found.source) as jail:
        return Exportable(found.source, found.hint, found.skills, found.difficulty, jail.info)
