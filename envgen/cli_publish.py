"""The command ``publish``: a release of shards as a data set on the Hugging Face Hub."""

import asyncio
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from envgen.config import ProducerConfig
from envgen.corpus import CorpusConfig
from envgen.publish import manifest
from envgen.publish.config import PublishConfig
from envgen.publish.scan import Finding, Machine
from envgen.publish.upload import Uploaded, upload
from memory import Manifest, MemoryConfig, Store
from memory.releases import format_shards, parse_shards
from sandbox import Sandbox, SandboxConfig
from spadekit.cli import Session, command, session
from spadekit.errors import BadInput
from spadekit.files import PART, folder_atomic
from spadekit.report import Report

if TYPE_CHECKING:
    from envgen.publish.build import Built

NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
SHOWN = 20
"""Findings that are listed one by one; ``--json`` lists all."""


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "publish")
    def publish(
        ctx: typer.Context,
        name: Annotated[str, typer.Argument(metavar="USER/NAME", help="The data set to be.")],
        shards: Annotated[
            str | None, typer.Option(help="Shards like 1..12 or 1,3,5..7. Default: all.")
        ] = None,
        release: Annotated[
            str | None,
            typer.Option(help="Or the name of a release (`spadework memory release`)."),
        ] = None,
        tag: Annotated[
            str | None,
            typer.Option(
                help="The tag, such as v1.0.0. Default: the release's name, or the shards."
            ),
        ] = None,
        dry_run: Annotated[
            Path | None,
            typer.Option(
                metavar="DIR",
                help="Write there exactly what would be uploaded, and upload nothing.",
            ),
        ] = None,
        all_plays: Annotated[
            bool, typer.Option("--all-plays", help="All plays, not a sample ([publish] plays).")
        ] = False,
        allow: Annotated[
            list[str] | None,
            typer.Option(metavar="ID", help="Let through a finding that is no secret."),
        ] = None,
        private: Annotated[
            bool,
            typer.Option(
                "--private", help="Make a new data set that only you see; refuse a public one."
            ),
        ] = False,
    ) -> None:
        """Release shards as a data set on the Hugging Face Hub: one commit, one tag that never moves."""
        current = session(ctx)
        _check_name(name)
        try:
            told = _publish(
                current, name, (shards, release, tag), dry_run, all_plays, allow or (), private
            )
        except Blocked as found:
            _refuse(current.report, name, found.made)
        except KeyboardInterrupt:
            current.report.note("stopped; the same command goes on from here")
            raise typer.Exit(130) from None
        if current.report.as_json:
            current.report.data(told)


def _publish(
    current: Session,
    name: str,
    what: tuple[str | None, str | None, str | None],
    dry_run: Path | None,
    all_plays: bool,
    allow: Sequence[str],
    private: bool,
) -> dict[str, Any]:
    from envgen.publish.build import Request, build

    settings, report = current.settings, current.report
    config = settings.section(PublishConfig)
    if all_plays:
        config = replace(config, plays=-1)
    memory = settings.section(MemoryConfig)
    with Store.open(memory.place(current.home), memory) as store:
        heads, tag = _chosen(store, *what)
        request = Request(
            name=name,
            tag=tag,
            shards=heads,
            config=config,
            corpus=settings.section(CorpusConfig),
            machine=Machine.of(
                os.environ, (str(Path.home()), str(Path.cwd()), str(current.home.resolve()))
            ),
            allowed=frozenset(allow),
            parallel=settings.section(ProducerConfig).parallel_certificates,
            kept=current.home / "corpus",
        )

        async def run(folder: Path) -> "Built":
            async with Sandbox(settings.section(SandboxConfig)) as sandbox:
                return await build(folder, request, store, sandbox, report)

        def make(folder: Path) -> "Built":
            made = asyncio.run(run(folder))
            if made.blocked:
                raise Blocked(made)
            return made

        if dry_run is not None:
            made = _write(dry_run, make)
            told = _plan(made, name)
            if not report.as_json:
                _show(report, made, f"{dry_run} holds what would be published as {name}@{tag}")
            return {**told, "dry_run": str(dry_run)}
        with tempfile.TemporaryDirectory(prefix="spadework-release-") as place:
            folder = Path(place) / "release"
            folder.mkdir()
            made = make(folder)
            uploaded = upload(
                folder,
                name,
                made.manifest,
                private=private,
                patience_s=config.patience_s,
                note=report.note,
            )
    if not report.as_json:
        _show(report, made, _said(name, uploaded))
    return {
        **_plan(made, name),
        "commit": uploaded.commit,
        "url": uploaded.url,
        "made": uploaded.made,
        "private": uploaded.private,
    }


class Blocked(Exception):
    """A release that must not leave; it carries what was built, so that all that was found is told."""

    def __init__(self, made: "Built") -> None:
        super().__init__("secrets were found")
        self.made = made


def _refuse(report: Report, name: str, made: "Built") -> NoReturn:
    """Tell everything that was found, and end: nothing was sent, and no folder was written."""
    first, count = made.blocked[0], len(made.blocked)
    why = (
        f"{count} finding{'s' * (count > 1)} in the way: nothing was published or written; release other "
        f"shards, or let through what is no secret, such as --allow {first.id}"
    )
    if report.as_json:
        report.data({**_plan(made, name), "error": why, "exit": 2})
    else:
        _show(report, made, "")
        report.error(why)
    raise typer.Exit(2)


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name) or ".." in name or "--" in name:
        raise BadInput(
            f"{name}: a data set of the Hub is called USER/NAME, in letters, digits, -, _, ."
        )


def _chosen(
    store: Store, shards: str | None, release: str | None, tag: str | None
) -> tuple[Sequence[Manifest], str]:
    """Return the manifests of the shards that were named, and the tag. Raises ``BadInput``."""
    if shards is not None and release is not None:
        raise BadInput("--shards and --release name the same thing; give one of them")
    if release is not None:
        heads = store.release(release)
    elif shards is not None:
        heads = [store.manifest(number) for number in sorted(set(parse_shards(shards)))]
    else:
        heads = store.shards()
    if not heads:
        raise BadInput("the store has no shard yet; `spadework generate` makes one")
    listed = format_shards([head.shard for head in heads])
    if tag is None:
        tag = release or f"shards-{listed.replace('..', '-').replace(',', '.')}"
    if not TAG.fullmatch(tag) or ".." in tag or tag.endswith((".", ".lock")) or tag == "main":
        raise BadInput(
            f"{tag!r} cannot be a tag: letters, digits, '.', '_' and '-', at most 64; name one with "
            "--tag, such as v1.0.0"
        )
    return heads, tag


def _write(target: Path, make: "Callable[[Path], Built]") -> "Built":
    """Build a release into a folder that is new, empty or a former release. Raises ``BadInput``."""
    former = manifest.is_release(target)
    if target.exists() and not former and (not target.is_dir() or any(target.iterdir())):
        raise BadInput(f"{target} holds something else; name a new folder")
    if former:
        known = {manifest.NAME, *manifest.read(target).files}
        strange = [name for name in manifest.listed(target) if name not in known]
        if strange:
            raise BadInput(f"{target / strange[0]} is none of the release's files; move it away")
    target = target.resolve()
    with _writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        place = tempfile.TemporaryDirectory(
            dir=target.parent, prefix=f".{target.name}.", suffix=PART
        )
    with place:
        aside = Path(place.name) / "release"
        with folder_atomic(aside) as folder:
            made = make(folder)
        with _writing(target):
            shutil.rmtree(target, ignore_errors=True)
            aside.rename(target)
    return made


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    """Say that a folder cannot be written, and why."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{target} cannot be written: {error.strerror or error}") from None


def _plan(made: "Built", name: str) -> dict[str, Any]:
    held, summary = made.manifest, made.summary
    return {
        "name": name,
        "tag": held.tag,
        "content": held.content,
        "environments": held.rows("environments"),
        "plays": held.rows("plays"),
        "documents": held.rows("documents"),
        "bytes": sum(file.bytes for file in held.files.values()),
        "files": {path: file.bytes for path, file in held.files.items()},
        "findings": [
            {**asdict(found), "id": found.id, "blocks": found in made.blocked}
            for found in summary.findings
        ],
        "blocked": bool(made.blocked),
        "benchmarks": [asdict(one) for one in summary.lists],
        "unplayed": summary.unplayed,
        "held": {one: held_.question for one, held_ in summary.held.items()},
        "documents_left": summary.documents_left,
        "documents_ambiguous": summary.documents_ambiguous,
    }


def _show(report: Report, made: "Built", said: str) -> None:
    held, summary = made.manifest, made.summary
    parts: dict[str, list[int]] = {}
    for path, file in held.files.items():
        folder, slash, _ = path.partition("/")
        part = parts.setdefault(f"{folder}/" if slash else path, [0, 0, 0])
        part[0] += 1
        part[1] += file.rows or 0
        part[2] += file.bytes
    rows = [(name, n, count or None, size) for name, (n, count, size) in parts.items()]
    report.table(
        "what would go" if made.blocked else "what goes", ("part", "files", "rows", "bytes"), rows
    )
    _show_findings(report, "what is in the way", made.blocked, len(made.blocked))
    others = [one for one in summary.findings if one not in made.blocked]
    _show_findings(report, "what was found besides" if made.blocked else "what was found", others)
    if summary.held:
        lines = [(one, f"{h.share:.0%}", h.question) for one, h in summary.held.items()]
        report.table("questions of benchmarks", ("environment", "holds", "question"), lines[:SHOWN])
    if summary.unplayed:
        report.table(
            "left out: the certified solution does not play as it did",
            ("environment", "what it did"),
            list(summary.unplayed.items())[:SHOWN],
        )
    if absent := [one.name for one in summary.lists if not one.sought]:
        report.note(f"not compared with {', '.join(absent)}; the card says so")
    if summary.documents_left:
        report.note(
            f"{summary.documents_left} documents stay here: no licence is known that lets them go along"
            + f" (the id of {summary.documents_ambiguous} stands for several texts)"
            * bool(summary.documents_ambiguous)
        )
    if said:
        report.text(said)


def _show_findings(
    report: Report, title: str, findings: Sequence[Finding], shown: int = SHOWN
) -> None:
    if findings:
        columns = ("id", "kind", "in", "place", "what", "excerpt", "file")
        rows = [
            (f.id, f.kind, f.owner, f.place, f.shown, f.excerpt, f.file) for f in findings[:shown]
        ]
        report.table(title, columns, rows, spare=("file", "excerpt"))
    if len(findings) > shown:
        report.note(f"and {len(findings) - shown} more; --json lists all")


def _said(name: str, uploaded: Uploaded) -> str:
    seen = ", a private data set that only you and those you let in can load" * uploaded.private
    if not uploaded.made:
        return f"{name}@{uploaded.tag} is there already: {uploaded.url}{seen}"
    return f"published {name}@{uploaded.tag} at commit {uploaded.commit[:12]}: {uploaded.url}{seen}"
