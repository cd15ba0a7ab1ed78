"""Which actions an observation offers, as a player who only reads would see them. Pure.

Read as offers, in this order:

1. numbered options, one a line: ``1. wait`` or ``b) swim`` (label and text are both offers);
2. lists after a cue and a colon: ``Actions: left, right``, ``choose one of: a | b``;
3. bracketed lists ``[up, down]``, ``(rock, paper)`` of two items or more, unless they look like
   data: an item stands twice, or all are numbers and no cue goes before them in the sentence;
4. quoted words ``"wait"``, ``'swim'``, ```dive```;
5. bars ``red | green | blue``;
6. single words joined by ``or``: ``heads or tails``, ``left, right or up``;
7. a list of words after a name and a colon: ``Doors: red, blue, green``.

Nothing else counts: a range ("from 1 to 100") lists no action. Only the first ``READ`` characters
are read, and every pattern is bounded, because the text is hostile.
"""

import re
from functools import lru_cache

READ = 8_000
MOST = 64
LONGEST = 40
CUE = r"(?:actions?|moves?|options?|choices?|commands?|answers?|choose|pick|reply|one of|either)"
OPTION = re.compile(r"^[ \t]*([0-9]{1,2}|[A-Za-z])[.):][ \t]+(\S.*)$", re.MULTILINE)
CUED = re.compile(rf"\b{CUE}\b[^:\n.]{{0,30}}:[ \t]*([^\n.;(]+)", re.IGNORECASE)
BRACKETS = re.compile(r"\[([^\[\]\n]{3,400})\]|\(([^()\n]{3,400})\)|\{([^{}\n]{3,400})\}")
CUE_BEFORE = re.compile(rf"\b{CUE}\b[^.\n]{{0,40}}$", re.IGNORECASE)
QUOTED = re.compile(r"\"([^\"\n]{1,40})\"|(?<!\w)'([^'\n]{1,40})'(?!\w)|`([^`\n]{1,40})`")
BARS = re.compile(r"[^|\n:]{1,40}(?:\|[^|\n]{1,40}){1,40}")
EITHER = re.compile(r"(?<![\w-])((?:[\w-]{1,24}, ){0,12}[\w-]{1,24}),? or ([\w-]{1,24})")
LABELLED = re.compile(
    r"\b[A-Za-z]{2,24}:[ \t]+((?:[^\W\d_][\w'-]{0,23}(?: [\w'-]{1,24})?(?:, | and |, and )){1,11}"
    r"[^\W\d_][\w'-]{0,23}(?: [\w'-]{1,24})?)(?=[.?!;)\n]|$)"
)
SPLIT = re.compile(r"\s{0,4}(?:[,|/;]|\bor\b)\s{0,4}")
EDGES = " \t\"'`.!?()[]"


@lru_cache(maxsize=256)
def offers(text: str) -> tuple[str, ...]:
    """Return the offered actions in the order found, each once, at most ``MOST``."""
    text = text[:READ]
    found: list[str] = []
    for label, option in OPTION.findall(text):
        found += [label, option]
    for match in CUED.finditer(text):
        found += _split(match[1])
    for match in BRACKETS.finditer(text):
        inner = next(group for group in match.groups() if group is not None)
        if match[1] is None and not SPLIT.search(inner):
            continue  # a remark in round brackets, not a list
        items = _split(inner)
        numbers = all(re.fullmatch(r"-?[0-9.]+", item) for item in items)
        cued = CUE_BEFORE.search(text, max(0, match.start() - 80), match.start())
        if len(items) > 1 and len(set(items)) == len(items) and (cued or not numbers):
            found += items
    for match in QUOTED.finditer(text):
        found += [next(group for group in match.groups() if group is not None)]
    for match in BARS.finditer(text):
        found += match[0].split("|")
    for match in EITHER.finditer(text):
        found += [*match[1].split(", "), match[2]]
    for match in LABELLED.finditer(text):
        items = re.split(r",? and |, ", match[1])
        if len(set(items)) == len(items):
            found += items
    clean = (item.strip(EDGES) for item in found)
    return tuple(dict.fromkeys(item for item in clean if 0 < len(item) <= LONGEST))[:MOST]


def _split(text: str) -> list[str]:
    """Split a list at its separators; words in a row ("n s e w") are a list when there is none."""
    items = [item.strip(EDGES) for item in SPLIT.split(text)]
    if len(items) == 1:
        items = text.split()
    return [item for item in items if item]
