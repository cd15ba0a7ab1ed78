"""Records of the solver's tests: an environment that can be played, and designs of a few tokens."""

from dataclasses import replace
from typing import Any

from memory import DesignRecord, EnvironmentRecord, environment_id

GAME = '''
class {name}Env:
    """Say many vowels."""
    def reset(self, seed=None):
        self.turn = 0
        return "say something", {{}}
    def step(self, action):
        self.turn += 1
        {fault}
        vowels = sum(char in "aeiou" for char in action)
        return f"{{vowels}} so far", min(1.0, vowels / 10), self.turn == 2, False, {{}}
'''


def environment(source: str, shard: int, **changes: Any) -> EnvironmentRecord:
    """A record whose certificate says nothing, designed by the version before its shard."""
    record = EnvironmentRecord(
        id="",
        shard=shard,
        setting="game",
        skills=("language_understanding",),
        title=source,
        description="",
        source=source,
        hint="",
        tools="",
        difficulty=1,
        certificate="{}",
        policy_version=shard - 1,
        parents=(),
        document="",
        design="",
        digest=source,
        fingerprint="",
        isolation="nsjail",
        decision="{}",
    )
    record = replace(record, **changes)
    return replace(record, id=environment_id(record.setting, record.source, record.hint))


def vowels(name: str, shard: int, fault: str = "pass") -> EnvironmentRecord:
    """A game of two turns; ``fault`` is a line of its steps."""
    source = GAME.format(name=name, fault=fault)
    return environment(
        source, shard, title="Say many vowels.", hint="say aeiou", digest=name, fingerprint=name
    )


def design(number: int, shard: int, temperature: float) -> DesignRecord:
    """One of three of its brief, paid 0, a half or 1."""
    return DesignRecord(
        id=f"design-{shard}-{number}",
        shard=shard,
        brief="{}",
        group=f"brief-{number // 3}",
        prompt_ids=(3, 30, 31, 32, 4),
        ids=(40 + number, 50, 60 + number, 70, 1),
        logprobs=(-3.0, -2.0, -4.0, -3.0, -1.0),
        text="",
        text_only=False,
        temperature=temperature,
        seed=number,
        policy_version=shard - 1,
        outcome="refused",
        stage="read",
        reason="no_code",
        detail="",
        environment="",
        reward=(number % 3) / 2,
    )
