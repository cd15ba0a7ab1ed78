"""What lines of the journals of rounds and measurements must hold, so that work can go on from them.

Each function raises ``KeyError``, ``TypeError`` or ``ValueError`` for a line that it could not.
"""

from dataclasses import dataclass
from typing import Any

from envgen.certificate import Certificate
from envgen.measuring import from_entry
from sandbox import Message
from solver.policy import Bill
from spadekit.files import expect


@dataclass(frozen=True)
class Spent:
    """What a round took so far, killed tries included."""

    tries: int = 0
    total_s: float = 0.0
    forward_s: float = 0.0
    read: int = 0
    sampled: int = 0
    cost: float | None = None

    @property
    def bill(self) -> Bill:
        """What an endpoint counted; nothing without one."""
        return Bill(self.read, self.sampled, self.cost)


def of_round(number: int, entry: dict[str, Any]) -> None:
    """Look at a line of a round: the first is its plan, the others say what was finished."""
    expect(entry, kind=str)
    Spent(*entry["spent"])
    if number == 1:
        expect(entry, policy_version=int, settings=str, briefs=list, drawn=dict)
        for asked in entry["briefs"]:
            expect(asked, brief=dict, messages=list)
            expect(asked["brief"], id=str, setting=str, skill=str, level=int, like=list)
            [Message(role, content) for role, content in asked["messages"]]
        return
    expect(entry, index=int)
    match entry["kind"]:
        case "design" | "hint":
            expect(entry, ids=list, logprobs=list, stop=str)
            if not all(isinstance(one, int) for one in entry["ids"]):
                raise TypeError("`ids` are no tokens")
        case "certificate":
            Certificate.from_json(entry["certificate"])
        case "plays":
            from_entry(entry)
        case other:
            raise ValueError(f"no kind of line is {other!r}")


def of_measurement(number: int, entry: dict[str, Any]) -> None:
    """Look at a line of a measurement: the first says what is measured, the others hold plays."""
    if number == 1:
        expect(entry, settings=str, version=int, updated=int)
    else:
        expect(entry, index=int)
        from_entry(entry)


def of_import(number: int, entry: dict[str, Any]) -> None:
    """Look at a line of an import: a candidate's certificate."""
    expect(entry, id=str)
    Certificate.from_json(entry["certificate"])
