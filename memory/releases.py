"""Releases: named lists of shards that never change, each pinned by the digest of its manifest."""

import datetime as dt
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory import shards
from memory.faults import explain
from memory.places import Place, names
from memory.schema import SCHEMA_VERSION
from memory.shards import MALFORMED, Manifest, digest_of, json_bytes
from spadekit.errors import BadInput

# A release becomes a tag elsewhere: letters, digits, dots, dashes, underscores.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class Release:
    """A named list of shards. ``manifests`` are the digests of their manifests, in the same order."""

    name: str
    shards: tuple[int, ...]
    manifests: tuple[str, ...]
    created: str
    digest: str


def make(root: Place, name: str, numbers: Sequence[int]) -> Release:
    """Write a release of the store at ``root`` and return it. Raises ``BadInput``.

    The same name with the same shards again changes nothing; with others it is refused. Every shard
    must be there, with a manifest that matches its digest.
    """
    _check_name(name)
    if not numbers:
        raise BadInput("a release needs at least one shard; name them like 1..12 or 1,3,5..7")
    ordered = sorted(set(numbers))
    heads = [shards.manifest(root / "shards", number) for number in ordered]
    body = {
        "schema": SCHEMA_VERSION,
        "name": name,
        "created": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "shards": [{"shard": head.shard, "manifest": head.digest} for head in heads],
    }
    place = _place(root, name)
    try:
        place.create(json_bytes({**body, "digest": digest_of(body)}))
    except OSError as error:
        raise BadInput(explain(error, str(place))) from None
    found = read(root, name)
    if (found.shards, found.manifests) != (tuple(ordered), tuple(head.digest for head in heads)):
        raise BadInput(
            f"release {name} exists with other shards ({format_shards(found.shards)}); releases "
            "never change, take another name"
        )
    return found


def read(root: Place, name: str) -> Release:
    """Return a release as it was written, its own digest checked. Raises ``BadInput``."""
    _check_name(name)
    place = _place(root, name)
    try:
        body = json.loads(place.read())
        if body.get("schema", 0) > SCHEMA_VERSION:
            raise BadInput(
                f"{place}: written by a newer version (schema {body['schema']}); upgrade spadework"
            )
        digest = body.pop("digest")
        if digest != digest_of(body) or body["name"] != name:
            raise BadInput(
                f"{place}: its digest does not match its content; restore it from a copy"
            )
        members = body["shards"]
        return Release(
            name=name,
            shards=tuple(one["shard"] for one in members),
            manifests=tuple(one["manifest"] for one in members),
            created=body["created"],
            digest=digest,
        )
    except FileNotFoundError:
        known = ", ".join(listed(root)) or "none yet"
        raise BadInput(f"no release {name}; the store has {known}") from None
    except (OSError, *MALFORMED) as error:
        raise BadInput(f"{place}: not a release ({error}); restore it from a copy") from None


def listed(root: Place) -> list[str]:
    """Return the names of all releases in order."""
    return [name.removesuffix(".json") for name in names(root / "releases", ".json")]


def resolve(root: Place, release: Release) -> list[Manifest]:
    """Return the manifests of a release's shards, each as it was. Raises ``BadInput``."""
    present = set(shards.numbers(root / "shards"))
    heads = []
    for number, digest in zip(release.shards, release.manifests, strict=True):
        folder = shards.folder_of(root / "shards", number)
        if number not in present:
            raise BadInput(
                f"release {release.name} names shard {number}, which is not there; restore {folder} "
                "from a copy"
            )
        head = shards.manifest(root / "shards", number)
        if head.digest != digest:
            raise BadInput(
                f"release {release.name} names another shard {number} than {folder} holds; restore "
                "that from a copy"
            )
        heads.append(head)
    return heads


def verify(root: Place) -> list[str]:
    """Return one line for each release that is damaged or names what is not there."""
    problems = []
    for name in listed(root):
        try:
            resolve(root, read(root, name))
        except BadInput as error:
            problems.append(str(error))
    return problems


def parse_shards(text: str) -> list[int]:
    """Read shard numbers like ``1..12`` or ``1,3,5..7``. Raises ``BadInput``."""
    found: list[int] = []
    for part in text.split(","):
        low, dots, high = part.strip().partition("..")
        if not low.isdecimal() or (dots and not high.isdecimal()) or len(low + high) > 12:
            raise BadInput(f"{text!r} is no list of shards; write it like 1..12 or 1,3,5..7")
        first, last = int(low), int(high) if dots else int(low)
        if not 1 <= first <= last <= first + 1_000_000:
            raise BadInput(f"{part.strip()}: shards count from 1, the low end comes first")
        found += range(first, last + 1)
    return found


def format_shards(numbers: Sequence[int]) -> str:
    """Write shard numbers as ``parse_shards`` reads them."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(str(p[0]) if len(p) == 1 else f"{p[0]}..{p[-1]}" for p in parts)


def _place(root: Place, name: str) -> Place:
    return root / "releases" / f"{name}.json"


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise BadInput(
            f"{name!r} is no name for a release: letters, digits, '.', '_' and '-', at most 64"
        )
