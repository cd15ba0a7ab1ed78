"""What the designer is asked: choosing the parts of a brief, and rendering it for a policy."""

import hashlib
import math
import random
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import jinja2

from envgen.config import DesignerConfig
from envgen.corpus import Corpus, Document, cut, keywords
from envgen.designer import HintSource
from envgen.failures import Failure, frequent, refusals
from envgen.levels import draw_skills, seen_lately, wanted
from envgen.playbook import Page, Playbook
from envgen.seeds import Seed
from envgen.seeds import load as load_seeds
from envgen.skills import setting_of
from memory import EnvironmentRecord, StandingRecord, Store
from memory.standing import FRONTIER_HIGH, FRONTIER_LOW
from sandbox import Message
from spadekit.seeds import derive

TOPIC_WORDS = 3
WORKED_EXAMPLE = {"game": "beads", "tool_use": "parcels"}
"""The seed that the full brief shows for each setting."""


@dataclass(frozen=True)
class Known:
    """An environment of the memory and its figures for the policy that is asked."""

    environment: EnvironmentRecord
    standing: StandingRecord

    @property
    def title(self) -> str:
        """What the environment calls itself, without the full stop."""
        return self.environment.title.rstrip(".")

    @property
    def figures(self) -> str:
        """The mean returns of both arms in words."""
        one = self.standing
        bare = _mean_return(one.return_unhinted, one.plays_unhinted)
        helped = _mean_return(one.return_hinted, one.plays_hinted)
        return f"mean return without the hint {bare}, with it {helped}"

    @property
    def why(self) -> str:
        """Why nothing like it is wanted, in words."""
        bare = self.standing.return_unhinted
        if self.standing.hint_only:
            reason = "won with the hint and never without it, as if it were a password"
        elif bare > FRONTIER_HIGH:
            reason = "too easy"
        elif bare < FRONTIER_LOW:
            reason = "too hard"
        else:
            reason = "the hint does not help"
        return f"{reason} ({self.figures})"


@dataclass(frozen=True)
class Brief:
    """One request to the designer. ``like`` and ``avoid`` are environments of the memory.

    ``level``: 1 to 5, or 0 where it is left to the designer.
    """

    id: str
    setting: str
    skill: str
    level: int
    document: Document | None
    topic: tuple[str, ...]
    like: tuple[Known, ...]
    avoid: tuple[Known, ...]
    failures: tuple[Failure, ...]
    playbook: Page | None = None

    def as_dict(self, style: str) -> dict[str, Any]:
        """Return what is stored with a design: ids and versions, not whole documents or sources."""
        return {
            "id": self.id,
            "prompt": prompt_version(style),
            "setting": self.setting,
            "skill": self.skill,
            "level": self.level,
            "document": self.document.id if self.document else "",
            "topic": list(self.topic),
            "like": [known.environment.id for known in self.like],
            "avoid": [known.environment.id for known in self.avoid],
            "failures": [asdict(failure) for failure in self.failures],
        }


def make_briefs(
    number: int,
    config: DesignerConfig,
    corpus: Corpus,
    store: Store,
    *,
    round_number: int,
    standings: Mapping[str, StandingRecord],
    seed: int,
    drawn: Mapping[str, int],
    tokens: Callable[[str], int],
    playbook: Playbook = MappingProxyType({}),
    preferred: frozenset[str] = frozenset(),
) -> list[Brief]:
    """Return the ``number`` briefs of a round; the same arguments and store give the same briefs.

    Skills are dealt like cards, over all rounds (as long as they have as many briefs): none comes again
    until all were used, so that no skill is left to chance; documents likewise: ``drawn`` says how many
    each shelf of the corpus has given already. With ``difficulty = "adaptive"`` skills and levels follow
    what the solver can do, once something is known of it (``envgen.levels``). ``standings``: by id, of
    the environments that may be shown. ``tokens`` counts a text's tokens, for the documents' limit.
    """
    rng = random.Random(derive(seed, "briefs", round_number))
    places = Counter(drawn)
    failures: dict[str, tuple[Failure, ...]] = {}
    seen = seen_lately(store) if config.difficulty == "adaptive" else []
    wants = {skill: wanted(seen, skill, config.levels) for skill in config.skills} if seen else {}
    skills = (
        draw_skills(rng, wants, number)
        if wants
        else deal(config.skills, number * (round_number - 1), number, seed)
    )

    def level_of(skill: str) -> int:
        if config.difficulty == "own":
            return 0
        return rng.choices(config.levels, wants[skill])[0] if wants else rng.choice(config.levels)

    def known(records: Sequence[EnvironmentRecord]) -> tuple[Known, ...]:
        return tuple(Known(record, standings[record.id]) for record in records)

    briefs = []
    for index, skill in enumerate(skills):
        setting = setting_of(skill)
        document = None
        if shelf := corpus.shelf(setting):
            document = corpus.at(shelf, places[shelf])
            document = replace(document, text=cut(document.text, corpus.max_tokens, tokens))
            places[shelf] += 1
        like: tuple[Known, ...] = ()
        avoid: tuple[Known, ...] = ()
        if config.memory:
            shown = store.examples(
                skill,
                setting,
                standings,
                seed=derive(seed, "examples", round_number, index),
                n=max(config.examples, config.avoid),
            )
            like = known(shown.frontier[: config.examples])
            avoid = known(shown.avoid[: config.avoid])
        if config.memory and config.prompt == "full" and setting not in failures:
            failures[setting] = frequent(refusals(store, setting), config.failures)
        briefs.append(
            Brief(
                id=f"{round_number:06d}-{index:03d}",
                setting=setting,
                skill=skill,
                level=level_of(skill),
                document=document,
                topic=keywords(document, TOPIC_WORDS, preferred=preferred) if document else (),
                like=like,
                avoid=avoid,
                failures=failures.get(setting, ()),
                playbook=playbook.get(skill),
            )
        )
    return briefs


def deal(skills: Sequence[str], begin: int, number: int, seed: int) -> list[str]:
    """Return cards ``begin`` to ``begin + number`` of decks that are laid one after another.

    A deck has every skill once, shuffled by the seed and the deck's place.
    """
    first, last = begin // len(skills), (begin + number - 1) // len(skills)
    cards = [
        skill
        for deck in range(first, last + 1)
        for skill in random.Random(derive(seed, "skills", deck)).sample(skills, len(skills))
    ]
    start = begin - first * len(skills)
    return cards[start : start + number]


def render(
    brief: Brief, style: str, turns: int, hint: HintSource = "inline"
) -> tuple[Message, ...]:
    """Return the messages that ask for a design; ``style`` names a file in ``envgen/prompts``.

    ``short`` is one user message of a few lines; ``full`` states the contract, a worked example,
    the document and the examples in full, for models with a long context. ``turns`` is how many
    replies a player has.
    """
    words = _words()
    text = _template(style).render(
        brief=brief,
        example=_worked_example(brief.setting),
        meaning=words["skills"][brief.skill],
        difficulty=words["levels"][str(brief.level)] if brief.level else "",
        turns=turns,
        hint=hint,
    )
    return (Message("user", text.strip()),)


@cache
def prompt_version(style: str) -> str:
    """Return the name of a prompt and a digest of all that is the same in each brief it makes."""
    parts = [_file(f"designer_{style}.md")]
    if style == "full":
        examples = [_worked_example(setting) for setting in sorted(WORKED_EXAMPLE)]
        parts += [
            _file("words.toml"),
            *(text for one in examples for text in (one.source, one.hint)),
        ]
    return f"{style}-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:12]}"


def _mean_return(value: float, plays: int) -> str:
    if not plays or math.isnan(value):
        return "not measured"
    return f"{value:.2f} over {plays} play{'s' * (plays != 1)}"


def _file(name: str) -> str:
    return (files("envgen") / "prompts" / name).read_text(encoding="utf-8")


@cache
def _words() -> dict[str, dict[str, str]]:
    return tomllib.loads(_file("words.toml"))


@cache
def _template(style: str) -> jinja2.Template:
    # Autoescape is for HTML; a prompt carries code as it is.
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    return environment.from_string(_file(f"designer_{style}.md"))


@cache
def _worked_example(setting: str) -> Seed:
    return next(seed for seed in load_seeds() if seed.name == WORKED_EXAMPLE[setting])
