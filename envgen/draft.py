"""One design on its way through a round, and the records that it ends as.

outcome     stage (who said no)                          reward       trained on
admitted                                                 by regret    yes
refused     read | <a check> | setting | probe           0            yes: validity is learned
duplicate   diversity                                    none         no
faulted     certificate | probe (our fault)              none         no

A hint that was asked for apart (``designer.hint = "separate"``) is not the design's: refused at ``hint``,
such a design is paid nothing and not trained on.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from envgen.certificate import Certificate
from envgen.designer import version_of
from memory import (
    DesignRecord,
    EnvironmentRecord,
    PlayRecord,
    StandingRecord,
    environment_id,
    record_id,
)
from memory.diversity import Decision, tree_digest
from memory.embedding import embedding_text
from solver.chat import Turn


@dataclass(frozen=True)
class Origin:
    """Where drafts come from: what all records of one round have in common."""

    run: str
    shard: int
    policy_version: int
    temperature: float
    isolation: str
    text_only: bool
    likeliest: dict[str, float] = field(default_factory=dict)
    """``top_p`` and ``top_k`` where they took tokens away; such designs are not trained on."""


@dataclass
class Draft:
    """A design as it grows, from its brief to its plays. ``outcome`` is set once it goes no further.

    ``place`` counts the designs that a round asks for. A follow-up (``turn`` 1 and on) is a design of
    its own at the same place: its prompt is the conversation so far, its group the follow-ups of that
    turn in answer to one brief.
    """

    index: int
    place: int
    brief: dict[str, Any]
    prompt_ids: tuple[int, ...]
    messages: tuple[Turn, ...]  # what the prompt was rendered from
    turn: int = 0
    parent: "Draft | None" = None
    ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    text: str = ""
    seed: int = 0
    stop: str = ""
    repaired: str = ""
    source: str = ""
    hint: str = ""
    hint_text: str = ""  # the completion that a separate hint was read from
    certificate: Certificate | None = None
    embedding: Any = None  # of ``about``; None: no meaning is measured
    decision: Decision | None = None
    plays: list[PlayRecord] = field(default_factory=list)
    standing: StandingRecord | None = None
    outcome: str = ""
    stage: str = ""
    reason: str = ""
    detail: str = ""

    @property
    def identity(self) -> str:
        """The id of the environment: a hash of what it is, known once the certificate is there."""
        return environment_id(self._certificate.setting, self.source, self.hint)

    @property
    def about(self) -> str:
        """The text that stands for the environment where meanings are compared."""
        certificate = self._certificate
        return embedding_text(certificate.title, certificate.description, (self.brief["skill"],))

    def refuse(self, outcome: str, stage: str, reason: str, detail: str) -> None:
        """Record why this design goes no further."""
        self.outcome, self.stage, self.reason, self.detail = outcome, stage, reason, detail

    def environment(self, origin: Origin) -> EnvironmentRecord:
        """Return the row of the environment that this draft became."""
        certificate, decision = self._certificate, self.decision
        assert decision is not None
        return EnvironmentRecord(
            id=self.identity,
            shard=origin.shard,
            setting=certificate.setting,
            skills=(self.brief["skill"],),
            title=certificate.title,
            description=certificate.description,
            source=self.source,
            hint=self.hint,
            tools=json.dumps(certificate.tools) if certificate.tools else "",
            difficulty=self.brief["level"],
            certificate=certificate.as_json(),
            policy_version=origin.policy_version,
            parents=tuple(self.brief["like"]),
            document=self.brief["document"],
            design=self._design_id(origin),
            digest=tree_digest(self.source),
            fingerprint=certificate.fingerprint,
            isolation=origin.isolation,
            decision=decision.to_json(),
        )

    def design(self, origin: Origin, reward: float | None) -> DesignRecord:
        """Return the row of the design, whatever became of it."""
        return DesignRecord(
            id=self._design_id(origin),
            shard=origin.shard,
            brief=json.dumps(self._brief(origin)),
            group=f"{self.brief['id']}+{self.turn}" if self.turn else self.brief["id"],
            prompt_ids=() if origin.text_only else self.prompt_ids,
            ids=() if origin.text_only else self.ids,
            logprobs=self.logprobs,
            text=self.text,
            text_only=origin.text_only,
            temperature=origin.temperature,
            seed=self.seed,
            policy_version=origin.policy_version,
            outcome=self.outcome,
            stage=self.stage,
            reason=self.reason,
            detail=self.detail,
            environment=self.identity if self.outcome == "admitted" else "",
            reward=reward,
        )

    def _brief(self, origin: Origin) -> dict[str, Any]:
        """Return the brief with what else tells how the design came about, where there is anything."""
        told: dict[str, Any] = {}
        if self.parent is not None:
            told |= {
                "turn": self.turn,
                "parent": self.parent._design_id(origin),
                "prompt": version_of("repair"),
            }
        if origin.likeliest:
            told["likeliest"] = origin.likeliest
        if self.repaired:
            told["repaired"] = self.repaired
        if self.hint_text:
            told["hint"] = {"text": self.hint_text, "prompt": version_of("hint")}
        return self.brief | told

    def _design_id(self, origin: Origin) -> str:
        return record_id("design", origin.run, origin.shard, self.index)

    @property
    def _certificate(self) -> Certificate:
        assert self.certificate is not None
        return self.certificate
