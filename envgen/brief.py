"""What the designer is asked: choosing the parts of a brief, and rendering it for a policy."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import jinja2

from envgen.config import DesignerConfig
from envgen.corpus import Corpus, Document, keywords
from envgen.seeds import Seed
from envgen.seeds import load as load_seeds
from envgen.skills import setting_of
from memory import EnvironmentRecord, Store
from sandbox import Message
from spadekit.seeds import derive

TOPIC_WORDS = 3
WORKED_EXAMPLE = {"game": "beads", "tool_use": "parcels"}
"""The seed that the full brief shows for each setting."""


@dataclass(frozen=True)
class Brief:
    """One request to the designer. ``like`` and ``avoid`` are environments of the memory."""

    id: str
    setting: str
    skill: str
    level: int
    document: Document | None
    topic: tuple[str, ...]
    like: tuple[EnvironmentRecord, ...]
    avoid: tuple[EnvironmentRecord, ...]

    def as_json(self) -> str:
        """Return what is stored with a design: ids and titles, not whole documents or sources."""
        return json.dumps(
            {
                "id": self.id,
                "setting": self.setting,
                "skill": self.skill,
                "level": self.level,
                "document": self.document.id if self.document else "",
                "topic": list(self.topic),
                "like": [environment.id for environment in self.like],
                "avoid": [environment.id for environment in self.avoid],
            }
        )


def make_briefs(
    number: int,
    config: DesignerConfig,
    corpus: Corpus | None,
    store: Store,
    *,
    round_number: int,
    policy_version: int,
    seed: int,
    preferred: frozenset[str] = frozenset(),
) -> list[Brief]:
    """Return the ``number`` briefs of a round; the same arguments and store give the same briefs.

    Skills are dealt like cards, without replacement until all were used, so that rare skills are
    not left to chance; documents likewise, over all rounds.
    """
    rng = random.Random(derive(seed, "briefs", round_number))
    skills: list[str] = []
    while len(skills) < number:
        skills += rng.sample(config.skills, len(config.skills))
    briefs = []
    for index, skill in enumerate(skills[:number]):
        setting = setting_of(skill)
        document = None if corpus is None else corpus.at((round_number - 1) * number + index)
        like: Sequence[EnvironmentRecord] = ()
        avoid: Sequence[EnvironmentRecord] = ()
        if config.memory:
            shown = store.examples(
                skill,
                setting,
                policy_version,
                seed=derive(seed, "examples", round_number, index),
                n=max(config.examples, config.avoid),
            )
            like, avoid = shown.frontier[: config.examples], shown.avoid[: config.avoid]
        briefs.append(
            Brief(
                id=f"{round_number:06d}-{index:03d}",
                setting=setting,
                skill=skill,
                level=rng.choice(config.levels),
                document=document,
                topic=keywords(document, TOPIC_WORDS, preferred=preferred) if document else (),
                like=tuple(like),
                avoid=tuple(avoid),
            )
        )
    return briefs


def render(brief: Brief, style: str) -> tuple[Message, ...]:
    """Return the messages that ask for a design; ``style`` names a file in ``envgen/prompts``.

    ``short`` is one user message of a few lines; ``full`` states the contract, a worked example,
    the document and the examples in full, for models with a long context.
    """
    template = _environment().get_template(f"designer_{style}.md")
    example = _worked_example(brief.setting)
    text = template.render(brief=brief, example=example)
    return (Message("user", text.strip()),)


@cache
def _environment() -> jinja2.Environment:
    # Autoescape is for HTML; a prompt carries code as it is.
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(files("envgen") / "prompts")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )


@cache
def _worked_example(setting: str) -> Seed:
    return next(seed for seed in load_seeds() if seed.name == WORKED_EXAMPLE[setting])
