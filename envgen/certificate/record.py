"""What a certificate says: checks with verdict, message and evidence, and the facts found."""

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any, Literal, cast

Verdict = Literal["pass", "fail", "unknown"]

CHECKS = (
    "source",
    "loads",
    "contract",
    "deterministic",
    "seeded",
    "solvable",
    "nontrivial",
    "sealed",
    "hint",
    "bounded",
)
"""All checks in their order; the first that fails is the last that is listed."""

MEASURED = frozenset({"median_step_s", "slowest_step_s", "peak_memory_bytes"})
"""Evidence that differs from one time to the next, and from machine to machine."""


@dataclass(frozen=True)
class Check:
    """One check. ``message`` is one line that teaches the author what to mend."""

    name: str
    verdict: Verdict
    message: str
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Certificate:
    """The machine-checked facts about one source and its hint.

    ``accepted``: no check failed (``unknown`` does not refuse). ``setting`` is ``game`` or
    ``tool_use``, empty when the source did not load. ``fingerprint`` is the SHA-256 of what
    scripted actions on fixed seeds led to: equal for environments that behave alike, empty when
    the environment was refused before it was known.
    ``turns`` counts the actions of the reference solution on each of ``seeds``.
    ``isolation`` names how the sandbox ran it: ``nsjail`` or ``process``.
    ``environment`` is the id of what it is about, empty when the source did not load, and ``code`` the
    ``code_digest`` of what certified; both are empty in certificates older than these fields.
    """

    accepted: bool
    checks: tuple[Check, ...]
    class_name: str
    title: str
    description: str
    setting: str
    tools: tuple[dict[str, Any], ...]
    seeds: tuple[int, ...]
    turns: tuple[int, ...]
    fingerprint: str
    seconds: float
    isolation: str
    environment: str = ""
    code: str = ""

    @property
    def failed(self) -> Check | None:
        """The check that refused the environment, if one did."""
        return next((check for check in self.checks if check.verdict == "fail"), None)

    def check(self, name: str) -> Check | None:
        """The check of that name, if it was reached."""
        return next((check for check in self.checks if check.name == name), None)

    def as_json(self) -> str:
        """Return the certificate as one JSON object."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False)

    def facts(self) -> dict[str, Any]:
        """Return what certifying again must find again: everything but times and memory."""
        values = dataclasses.asdict(self)
        del values["seconds"]
        for check in values["checks"]:
            check["evidence"] = {k: v for k, v in check["evidence"].items() if k not in MEASURED}
        # As JSON has it: without tuples.
        return cast(dict[str, Any], json.loads(json.dumps(values)))

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """Read what ``as_json`` wrote. Raises ``ValueError``, ``KeyError`` or ``TypeError``."""
        values = json.loads(text)
        values["checks"] = tuple(Check(**check) for check in values["checks"])
        for name in ("tools", "seeds", "turns"):
            values[name] = tuple(values[name])
        return cls(**values)
