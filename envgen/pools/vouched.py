"""Certificates that strangers wrote: every value has the type and range that whoever reads it relies on."""

import dataclasses
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, get_args

from envgen.certificate import Certificate
from envgen.certificate.record import CHECKS
from sandbox import Isolation
from sandbox.protocol import Breach, Malformed
from sandbox.protocol import info as checked_info

LONGEST = 1_000_000
"""Characters of a certificate; those of our seeds have some 2,000."""
LARGEST = 2**63
MOST = 1_000
"""Seeds of a certificate, and their turns."""
_DIGEST = re.compile(r"[0-9a-f]{64}")
_IDENTITY = re.compile(r"[0-9a-f]{20}")
_NAMES = {field.name for field in dataclasses.fields(Certificate)}
_NEEDED = {
    field.name for field in dataclasses.fields(Certificate) if field.default is dataclasses.MISSING
}


def read(text: str) -> Certificate:
    """Return the certificate that a text holds. Raises ``ValueError`` saying what is wrong with it."""
    try:
        values = json.loads(text, parse_constant=_no_number)
        _check_tree(values)
        if not isinstance(values, dict) or not _NEEDED <= values.keys() <= _NAMES:
            raise ValueError("not the fields of a certificate")
        for name, good in _FIELDS.items():
            if name in values and not good(values[name]):
                raise ValueError(f"its `{name}` is none")
        _check_info(values)
        for check in values["checks"]:
            _check_figures(check["evidence"])
        return Certificate.from_json(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def is_identity(value: object) -> bool:
    """Whether a value is the id of an environment."""
    return isinstance(value, str) and _IDENTITY.fullmatch(value) is not None


def is_digest(value: object) -> bool:
    """Whether a value is a SHA-256."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def is_number(value: object, low: float = -LARGEST) -> bool:
    """Whether a value is a finite number, and at least ``low``."""
    return isinstance(value, int | float) and type(value) is not bool and low <= value <= LARGEST


def is_count(value: object, high: float = LARGEST) -> bool:
    """Whether a value is a whole number, not negative."""
    return type(value) is int and 0 <= value <= high


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _check_tree(value: Any) -> None:
    """Refuse numbers without a value and text that no file can hold, wherever they stand."""
    if isinstance(value, dict):
        for key, one in value.items():
            _check_tree(key)
            _check_tree(one)
    elif isinstance(value, list):
        for one in value:
            _check_tree(one)
    elif isinstance(value, str):
        value.encode()
    elif value is not None and type(value) is not bool and not is_number(value):
        raise ValueError("a number in it is out of range")


def _check_info(values: Mapping[str, Any]) -> None:
    """Hold what it says of the program to what a jail may say of one."""
    told = {
        name: values[name] for name in ("class_name", "title", "description", "setting", "tools")
    }
    try:
        info = checked_info(told | {"has_solution": True, "max_turns": None})
    except (Malformed, Breach) as wrong:
        raise ValueError(str(wrong)) from None
    if info.title != values["title"]:
        raise ValueError("its title is more than a line of text")


def _check_figures(evidence: Mapping[str, Any]) -> None:
    """Hold the figures that cards and tables are made of to what they count."""
    returns = evidence.get("returns", [])
    if not isinstance(returns, list) or not all(map(is_number, returns)):
        raise ValueError("its returns are no numbers")
    for one in (evidence, *(one for one in evidence.values() if isinstance(one, dict))):
        if not all(is_count(one[name]) for name in ("wins", "plays", "distinct") if name in one):
            raise ValueError("it counts what cannot be counted")


def _is_checks(value: Any) -> bool:
    keys = {"name", "verdict", "message", "evidence"}
    return (
        isinstance(value, list)
        and all(isinstance(one, dict) and one.keys() == keys for one in value)
        and all(isinstance(one["message"], str) for one in value)
        and all(isinstance(one["evidence"], dict) for one in value)
        and all(one["verdict"] in ("pass", "fail", "unknown") for one in value)
        and [one["name"] for one in value] == [name for name in CHECKS if _has(value, name)]
    )


def _has(checks: list[dict[str, Any]], name: str) -> bool:
    return any(one["name"] == name for one in checks)


def _is_counts(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= MOST and all(map(is_count, value))


_FIELDS: Mapping[str, Callable[[Any], bool]] = {
    "accepted": lambda value: type(value) is bool,
    "checks": _is_checks,
    "seeds": _is_counts,
    "turns": _is_counts,
    "fingerprint": is_digest,
    "seconds": lambda value: is_number(value, 0),
    "isolation": lambda value: value in get_args(Isolation),
    "environment": lambda value: value == "" or is_identity(value),
    "code": lambda value: value == "" or is_digest(value),
}
