"""The commands ``check`` (certify one source file) and ``play`` (play an environment by hand)."""

import asyncio
import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from envgen.byhand import play_by_hand
from envgen.certificate import CHECKS, Certificate, certify_sync
from envgen.seeds import load as load_seeds
from memory import MemoryConfig, Store
from sandbox import EnvironmentFault, Sandbox, SandboxConfig
from spadekit.cli import command, session
from spadekit.errors import BadInput

HINT_LINE = re.compile(r"#\s*hint:\s*(.+)", re.IGNORECASE)
HINT_TAIL = 5
SHOWN_WIDTH = 200


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""

    @command(app, "check")
    def check(
        ctx: typer.Context,
        file: Annotated[Path, typer.Argument(help="Python source of one environment.")],
        hint: Annotated[str | None, typer.Option(help="The hint to check with it.")] = None,
        hint_file: Annotated[
            Path | None, typer.Option(help="File that holds the hint; `# hint:` lines count too.")
        ] = None,
        seed: Annotated[int, typer.Option(help="Chooses the instances that are played.")] = 0,
    ) -> None:
        """Certify one source file; exit 0 accepted, 1 refused, 2 could not judge."""
        current = session(ctx)
        config = current.settings.section(SandboxConfig)
        source = read_source(file, config.max_source_bytes)
        if hint is not None and hint_file is not None:
            raise BadInput("give --hint or --hint-file, not both")
        if hint_file is not None:
            hint = read_text(hint_file, config.max_source_bytes)
        certificate = certify_sync(source, hint or hint_of(source), Sandbox(config), seed=seed)
        if current.report.as_json:
            current.report.data({"file": str(file), **asdict(certificate)})
        else:
            current.report.table(
                f"{certificate.class_name or file.name}: {certificate.title or 'not loaded'}",
                ("check", "verdict", "what was found"),
                _rows(certificate),
            )
            verdict = "accepted" if certificate.accepted else "refused"
            current.report.text(f"{verdict} in {certificate.seconds:.2f} s")
        if not certificate.accepted:
            raise typer.Exit(1)

    @command(app, "play")
    def play(
        ctx: typer.Context,
        env: Annotated[
            str, typer.Argument(help="A .py file, the name of a seed, or an id of the store.")
        ],
        seed: Annotated[int, typer.Option(help="Which instance to play.")] = 0,
        hint: Annotated[bool, typer.Option("--hint", help="Show the hint.")] = False,
    ) -> None:
        """Play an environment by hand in the terminal."""
        current = session(ctx)
        config = current.settings.section(SandboxConfig)
        source, text = resolve(
            env, current.home, current.settings.section(MemoryConfig), config.max_source_bytes
        )
        if hint:
            current.report.note(f"hint: {text or 'this environment has none'}")
        try:
            reward = asyncio.run(play_by_hand(source, seed, Sandbox(config), current.report))
        except EnvironmentFault as fault:
            raise BadInput(f"{env}: the environment fails: {fault}") from None
        if current.report.as_json:
            current.report.data({"env": env, "seed": seed, "return": reward})


def read_source(path: Path, largest: int) -> str:
    """Read a source file. Raises ``BadInput`` when it is missing, empty, binary or too large."""
    text = read_text(path, largest)
    if not text.strip():
        raise BadInput(f"{path}: the file is empty; write one Python class whose name ends in Env")
    return text


def read_text(path: Path, largest: int) -> str:
    """Read a text file of at most ``largest`` bytes. Raises ``BadInput``."""
    try:
        if path.is_dir():
            raise BadInput(f"{path}: this is a folder; name one Python file")
        if path.exists() and not path.is_file():
            raise BadInput(f"{path}: not a regular file; name one Python file")
        with path.open("rb") as file:
            data = file.read(largest + 1)
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    if len(data) > largest:
        raise BadInput(f"{path}: larger than {largest} bytes; an environment is one short file")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not UTF-8 text; an environment is a Python source file") from None
    if "\0" in text:
        raise BadInput(f"{path}: holds NUL characters, so it is not a text file")
    return text


def hint_of(source: str) -> str | None:
    """Return the hint of a source's last lines (``# hint: ...``), if there is one."""
    for line in reversed(source.strip().splitlines()[-HINT_TAIL:]):
        match = HINT_LINE.match(line.strip())
        if match:
            return match[1].strip()
    return None


def resolve(env: str, home: Path, config: MemoryConfig, largest: int) -> tuple[str, str]:
    """Return (source, hint) of a file, a seed or a stored environment. Raises ``BadInput``."""
    if env.endswith(".py") or "/" in env:
        source = read_source(Path(env), largest)
        return source, hint_of(source) or ""
    for seed in load_seeds():
        if seed.name == env:
            return seed.source, seed.hint
    if not (home / "store").is_dir():
        names = ", ".join(seed.name for seed in load_seeds())
        raise BadInput(f"{env}: no such seed, and no store in {home}; the seeds are {names}")
    store = Store.open(home / "store", config)
    try:
        record = store.environment(env)
    finally:
        store.close()
    return record.source, record.hint


def _rows(certificate: Certificate) -> list[tuple[str, str, str]]:
    rows = [
        (check.name, check.verdict, check.message[:SHOWN_WIDTH]) for check in certificate.checks
    ]
    reached = {check.name for check in certificate.checks}
    return rows + [(name, "-", "not reached") for name in CHECKS if name not in reached]


__all__ = ["hint_of", "read_source", "register", "resolve"]
