"""The command ``spadework serve``."""

import os
from pathlib import Path
from typing import Annotated

import typer

from spadekit.cli import command, session
from spadekit.errors import BadInput
from spadekit.runs import RunOption

VARIABLE = "SPADEWORK_TOKEN"
LEAST = 16
"""Characters of a token."""


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "serve")
    def serve(
        ctx: typer.Context,
        host: Annotated[
            str, typer.Option(help="Address to listen at; others than loopback need a token.")
        ] = "127.0.0.1",
        port: Annotated[
            int, typer.Option(help="Port; 0 takes any that is free.", min=0, max=65535)
        ] = 8080,
        token_file: Annotated[
            str,
            typer.Option(
                metavar="FILE",
                help=f"File with the token that changing calls must show; else {VARIABLE} has it.",
            ),
        ] = "",
        run: RunOption = "main",
    ) -> None:
        """The environment-generation service: HTTP API (/docs, /health, /metrics), a stock kept up."""
        current = session(ctx)
        token = _token(token_file)
        try:
            from envgen.service.server import serve as listen

            listen(
                current.home,
                run,
                current.settings,
                current.report,
                host=host,
                port=port,
                token=token,
            )
        except KeyboardInterrupt:
            raise typer.Exit(130) from None


def _token(file: str) -> str:
    """Return the token, "" for none. Raises ``BadInput`` for one that is no secret."""
    where = f"--token-file {file}" if file else VARIABLE
    try:
        token = Path(file).read_text(encoding="utf-8") if file else os.environ.get(VARIABLE, "")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{where}: cannot be read ({error})") from None
    token = token.strip()
    if not file and not token:
        return ""
    if len(token) < LEAST or not token.isascii() or not token.isprintable() or " " in token:
        raise BadInput(
            f"{where}: a token has at least {LEAST} printable ASCII characters and no space; "
            "`openssl rand -hex 32` makes one"
        )
    return token
