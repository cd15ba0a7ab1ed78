"""The command ``check``: certify one source file."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from envgen.certificate import CHECKS, Certificate, certify_sync
from envgen.sourcefile import hint_of, read_source, read_text
from envgen.terms import terms_of
from sandbox import Sandbox, SandboxConfig
from spadekit.cli import command, session
from spadekit.errors import BadInput

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
            hint = read_text(hint_file, config.max_source_bytes).replace("\r\n", "\n")
        certificate = certify_sync(
            source,
            hint or hint_of(source),
            Sandbox(config),
            seed=seed,
            terms=terms_of(current.settings),
        )
        if current.report.as_json:
            facts = {"file": str(file), "winnable": _winnable(certificate)}
            current.report.data(facts | asdict(certificate))
        else:
            current.report.table(
                f"{certificate.class_name or file.name}: {certificate.title or 'not loaded'}",
                ("check", "verdict", "what was found"),
                _rows(certificate),
            )
            verdict = "accepted" if certificate.accepted else "refused"
            unproven = certificate.accepted and _winnable(certificate) == "unknown"
            note = "; not proven winnable: it has no solution()" if unproven else ""
            current.report.text(f"{verdict} in {certificate.seconds:.2f} s{note}")
        if not certificate.accepted:
            raise typer.Exit(1)


def _winnable(certificate: Certificate) -> str:
    """Return ``proven`` when the reference won, ``unknown`` when nothing has shown it yet."""
    check = certificate.check("solvable")
    return "proven" if check is not None and check.verdict == "pass" else "unknown"


def _rows(certificate: Certificate) -> list[tuple[str, str, str]]:
    rows = [
        (check.name, check.verdict, check.message[:SHOWN_WIDTH]) for check in certificate.checks
    ]
    reached = {check.name for check in certificate.checks}
    return rows + [(name, "-", "not reached") for name in CHECKS if name not in reached]
