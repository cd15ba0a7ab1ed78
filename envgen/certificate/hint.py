"""What a hint may say: the key idea in at most 100 words, no code, never an answer. Pure."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from envgen.certificate.record import Check
from envgen.sourcefile import CONTROL

MOST_WORDS = 100
MOST_CHARACTERS = 2_000
SHORTEST_ANSWER = 2
SPELT = re.compile(r"\b\w(?: \w){2,}\b")
CODE = {
    "a control character": CONTROL,
    "a code fence": re.compile(r"```|~~~"),
    "a definition": re.compile(r"\b(?:def|class)\s+\w+\s*[(:]|\blambda\b[^.]*:"),
    "an import": re.compile(r"^\s*(?:import\s+\w+|from\s+\w+\s+import)\b", re.MULTILINE),
    "an assignment or comparison": re.compile(
        r"[A-Za-z_][\w.\]]{0,40}\s{0,4}(?:[-+*/|&:]?=|[=!<>]=)\s{0,4}\S"
    ),
    "a call": re.compile(
        r"\w{1,40}[._]\w{1,40}\([^)]{0,200}\)|\b(?:print|range|len|sum|int|str|max|min|sorted|abs|set|list)\("
    ),
    "an index": re.compile(r"\w\[[^\]\s]{1,40}\]"),
    "braces": re.compile(r"\{[^}]{0,200}\}"),
}


def check_hint(hint: str | None, plays: Sequence[Sequence[str]]) -> Check:
    """Return the ``hint`` check; ``plays`` are the winning plays of the certificate's seeds.

    A literal answer is the answer of a play of one action, or all actions of a longer play in a
    row, standing in the hint as whole words; case, punctuation and boxes do not count. Answers of
    one character are let through: "a" or "7" cannot be told from ordinary text.
    """
    if hint is None or not hint.strip():
        return Check(
            "hint",
            "unknown",
            "no hint was given; give one with --hint or a last line `# hint: ...`",
        )
    words = len(hint.split())
    evidence: dict[str, Any] = {"words": words}
    if len(hint) > MOST_CHARACTERS:
        message = f"the hint has {len(hint)} characters; at most {MOST_CHARACTERS} are allowed"
        return Check("hint", "fail", message, evidence)
    if words > MOST_WORDS:
        message = f"the hint has {words} words; keep the key idea in at most {MOST_WORDS}"
        return Check("hint", "fail", message, evidence)
    for what, pattern in CODE.items():
        match = pattern.search(hint)
        if match:
            evidence["found"] = match[0][:60]
            message = f"the hint holds {what} ({match[0][:30]!r}); say the idea in plain words"
            return Check("hint", "fail", message, evidence)
    # Spelt letter by letter it is said as well.
    said = normal(hint) + " " + SPELT.sub(lambda found: found[0].replace(" ", ""), normal(hint))
    for play in plays:
        answer = spoken(play)
        if len(answer) >= SHORTEST_ANSWER and f" {answer} " in f" {said} ":
            evidence["answer"] = answer
            message = (
                f"the hint holds the answer of one seed ({answer[:40]!r}); name the method only"
            )
            return Check("hint", "fail", message, evidence)
    return Check("hint", "pass", f"{words} words, no code, no answer", evidence)


def spoken(play: Sequence[str]) -> str:
    """Return a winning play as plain words: the answer, or all actions in a row."""
    return normal(" ".join(action_words(action) for action in play))


@lru_cache(maxsize=2048)
def action_words(action: str) -> str:
    """Return an action without its box; of tool calls the names and argument values."""
    if action.startswith('{"content": ') and '"tool_calls": ' in action:
        with suppress(ValueError, LookupError, AttributeError, TypeError):
            value = json.loads(action)
            parts = [value["content"]]
            for call in value["tool_calls"]:
                parts += [call["name"], *map(str, call["arguments"].values())]
            return " ".join(parts)
    return action.removeprefix("\\boxed{").removesuffix("}") if "\\boxed{" in action else action


def normal(text: str) -> str:
    """Lower-case words of a text, one space between them; signs and commas fall away."""
    return " ".join(re.findall(r"\w+", text.lower()))
