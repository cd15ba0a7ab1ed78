"""The desk inside the jail: takes a request in parts, answers it, hands the answer out in parts.

A program of this folder follows in the same source and defines ``answer(request)``. One frame holds
less than a test case may, so ``+TEXT`` adds to the request, ``=`` answers it and tells how long the
answer is, ``?N`` gives the answer from character N on. Requests and answers are JSON.
"""

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.suites.inside.rg import answer

PART = 12_000


class DeskEnv:
    """Answers requests."""

    def reset(self, seed: object = None) -> tuple[str, dict[str, Any]]:
        self.parts: list[str] = []
        self.answered = ""
        return "", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        kind, rest = action[:1], action[1:]
        if kind == "+":
            self.parts.append(rest)
            return "", 0.0, False, False, {}
        if kind == "=":
            request = json.loads("".join(self.parts))
            self.parts = []
            # A whole answer of JSON's own kinds; what is none fails here, in the jail.
            self.answered = json.dumps(answer(request))
            return str(len(self.answered)), 0.0, False, False, {}
        start = int(rest)
        return self.answered[start : start + PART], 0.0, False, False, {}
