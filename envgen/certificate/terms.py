"""What is asked of an environment besides being sound: whoever is to play it decides that."""

from dataclasses import dataclass

from envgen.certificate.odds import GUESSABLE


@dataclass(frozen=True)
class Terms:
    """``max_turns``: the cap of a policy's play; ``guessable``: how often the answer of one seed may be
    right on another."""

    max_turns: int = 25
    guessable: float = GUESSABLE


DEFAULT = Terms()
