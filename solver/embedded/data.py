"""Endless training data, deterministic by seed: briefs with designs, and plays of designed games."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from solver.embedded.grammar import FAMILIES, SKILLS, Ask, Demo, Program, sample
from solver.embedded.words import WORDS
from spadekit.seeds import derive

# Shares of plays that work step by step. Players without the hint are mostly hasty, so that the hint
# is worth something and there is something left to learn by playing.
CAREFUL_UNHINTED, CAREFUL_HINTED = 0.3, 0.9
HINTED = 0.4
# Briefs that leave the level to the designer.
LEVEL_FREE = 0.35
# Easy and middle levels dominate what is played; designs are asked for evenly.
PLAY_LEVELS = (1, 1, 2, 2, 3, 3, 4, 5)


@dataclass(frozen=True)
class Segment:
    """A stretch of a conversation: its role, text, and whether the loss counts it."""

    role: str
    text: str
    trained: bool


def brief(rng: Random, program: Program, topic: tuple[str, ...]) -> str:
    """Write the designer's short brief that ``program`` answers (see ``envgen.prompts``)."""
    setting = "game" if program.setting == "game" else "tool_use"
    lines = [f"design {setting}", f"skill {program.skill}"]
    if rng.random() >= LEVEL_FREE:
        lines.append(f"level {program.level}")
    if topic:
        lines.append("topic " + " ".join(topic))
    lines += [f"like {_title(rng, program, 0.75)}" for _ in range(rng.choice((0, 0, 1, 2)))]
    lines += [f"avoid {_title(rng, program, 0.25)}" for _ in range(rng.choice((0, 0, 1, 2)))]
    return "\n".join(lines)


def _title(rng: Random, program: Program, same: float) -> str:
    """Return the title of another program of the skill, of the same family with chance ``same``.

    Some titles are of programs that the grammar knows nothing of.
    """
    if rng.random() < 0.1:
        opening = rng.choice(("Move", "Sort", "Open", "Count", "Ask for", "Find", "Plan", "Play"))
        return f"{opening} the {' '.join(rng.sample(WORDS, rng.randint(1, 4)))}."
    families = [maker.__name__ for maker in FAMILIES[program.skill][1]]
    others = [name for name in families if name != program.family]
    family = program.family if program.family in families else families[0]
    if others and rng.random() >= same:
        family = rng.choice(others)
    return sample(rng, program.skill, rng.randint(1, 5), family=family).title


def completion(program: Program) -> str:
    """Return what the designer writes: a fenced block and a line with the hint."""
    return f"```python\n{program.source}```\nhint: {program.hint}"


def draw_program(rng: Random, level: int) -> tuple[Program, tuple[str, ...]]:
    """Draw a skill, a topic of up to three words (or none), and a program."""
    setting = "game" if rng.random() < 0.7 else "tool_use"
    skill = rng.choice(SKILLS[setting])
    topic = tuple(rng.sample(WORDS, rng.choice((0, 1, 1, 2, 3, 3))))
    return sample(rng, skill, level, topic), topic


def design(rng: Random) -> tuple[list[Segment], Program]:
    """One brief with its design."""
    program, topic = draw_program(rng, rng.randint(1, 5))
    asked = Segment("user", brief(rng, program, topic), False)
    return [asked, Segment("assistant", completion(program), True)], program


def play(rng: Random) -> tuple[list[Segment], Program]:
    """One play of a program drawn for it, with the program."""
    program, _ = draw_program(rng, rng.choice(PLAY_LEVELS))
    hinted = rng.random() < HINTED
    careful = rng.random() < (CAREFUL_HINTED if hinted else CAREFUL_UNHINTED)
    demo = program.play(Ask(rng.randrange(2**31), hinted, careful, rng))
    return conversation(program, demo, hinted), program


def conversation(program: Program, demo: Demo, hinted: bool) -> list[Segment]:
    """Lay a demonstration out as the episodes do: tools first, the hint with the first observation."""
    segments: list[Segment] = []
    if program.tools:
        shown = " ".join(f"{name}({', '.join(arguments)})" for name, arguments in program.tools)
        segments.append(Segment("system", f"tools {shown}", False))
    for number, turn in enumerate(demo.turns):
        for index, say in enumerate(turn.seen):
            last = number == 0 and index == len(turn.seen) - 1
            text = f"{say.content}\nhint: {program.hint}" if last and hinted else say.content
            segments.append(Segment(say.role, text, False))
        segments.append(Segment("assistant", turn.reply, turn.trained))
    return segments


def examples(seed: int, role: str, rank: int, pool: int, size: int) -> list[list[Segment]]:
    """Return pool number ``pool`` of a role ("designer" or "solver") and rank."""
    return [segments for segments, _ in _pool(seed, role, rank, pool, size)]


def programs(seed: int, role: str, rank: int, pools: int, size: int) -> Iterator[Program]:
    """Yield again the programs behind a role's examples of the first ``pools`` pools."""
    for pool in range(pools):
        for _, program in _pool(seed, role, rank, pool, size):
            yield program


def _pool(
    seed: int, role: str, rank: int, pool: int, size: int
) -> Iterator[tuple[list[Segment], Program]]:
    rng = Random(derive(seed, role, rank, pool))
    draw = design if role == "designer" else play
    for _ in range(size):
        yield draw(rng)


class Encoder:
    """Turns conversations into ids and a mask of the tokens that the loss counts."""

    def __init__(self, tokenizer: Any) -> None:
        self._encode = tokenizer.backend_tokenizer.encode
        self._roles = {r: tokenizer.convert_tokens_to_ids(f"<|{r}|>") for r in _ROLES}
        self._end = int(tokenizer.eos_token_id)

    def __call__(self, segments: list[Segment]) -> tuple[list[int], list[int]]:
        """Return (ids, mask), equally long."""
        ids: list[int] = []
        mask: list[int] = []
        for segment in segments:
            body = [*self._encode(segment.text, add_special_tokens=False).ids, self._end]
            ids += [self._roles[segment.role], *body]
            mask += [0, *([int(segment.trained)] * len(body))]
        return ids, mask


_ROLES = ("system", "user", "assistant", "tool")
