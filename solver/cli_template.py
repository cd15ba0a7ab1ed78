"""The command ``spadework template``: whether a model's chat template can be played and trained with."""

from pathlib import Path
from typing import Annotated

import typer

from solver.config import PolicyConfig
from spadekit.cli import command, session
from spadekit.errors import BadInput


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "template")
    def template(
        ctx: typer.Context,
        folder: Annotated[
            Path | None,
            typer.Argument(
                help="A model in the transformers format. Default: the recipe's policy.model.",
                show_default=False,
            ),
        ] = None,
    ) -> None:
        """Check a model's chat template, its weights unread; exit 0 if it is suitable, 1 if not."""
        from solver.chat import Chat
        from solver.versions import model_folder

        run = session(ctx)
        config = run.settings.section(PolicyConfig)
        if folder is None and config.engine == "chat":
            raise BadInput(
                "policy.engine = chat sends messages, no tokens: its endpoint knows the template; name a "
                "model folder"
            )
        place = folder or model_folder(config)
        if not (place / "tokenizer_config.json").is_file():
            raise BadInput(
                f"{place}: no model's tokenizer there (tokenizer_config.json is missing)"
            )
        try:
            chat = Chat.open(place, config.thinking)
        except BadInput as refused:
            run.report.record("Chat template", {"suitable": False, "reason": str(refused)})
            raise typer.Exit(1) from None
        run.report.record("Chat template", {"suitable": True} | chat.summary())
