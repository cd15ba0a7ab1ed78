"""One place of a round from its brief to a certified program: design, hint, certificate, follow-ups.

    brief ─► completion ─► read ─► (hint) ─► certificate ─► passed
                 ▲           │                    │
                 └───────────┴── follow-up ◄──────┘   at most ``designer.repair_turns`` of them

Conversations are append-only: a follow-up's prompt is the last prompt, the ids that were sampled, and
the check's message. Where the chat template drops earlier reasoning, it is rendered anew. Every
completion is a design of its own with its own reward, so what is learned from a follow-up is how to
mend, and the first answer is not paid for having been mended later.

A separate hint (``designer.hint = "separate"``) is written in a conversation of its own that shows the
program. Its tokens are not trained on: the regret that it earns is the program's as much, and a group
would compare hints for different programs.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from envgen.certificate import Certificate
from envgen.config import DesignerConfig
from envgen.designer import Unreadable, ask_hint, follow_up, read_design, read_hint
from envgen.draft import Draft
from envgen.measuring import retried
from envgen.progress import Meter, Step
from envgen.terms import terms_of
from envgen.workspace import Workspace
from sandbox import Message, SandboxFault
from solver.chat import Spoken, next_prompt
from solver.policy import Sampling
from spadekit.seeds import derive

REQUIRED = ("solvable", "hint")
"""Checks that the designer must pass: a design of its own without a solution or a hint is refused."""
Note = Callable[[dict[str, Any]], None]
Done = Mapping[tuple[str, int], Sequence[dict[str, Any]]]
"""Journal entries of an earlier try, by kind and index."""


class Authoring:
    """Writes the designs of round ``number``; what ``done`` holds already is not done again."""

    def __init__(
        self,
        work: Workspace,
        number: int,
        places: int,
        *,
        note: Note,
        done: Done,
        meter: Meter,
    ) -> None:
        self._work, self._number, self._places = work, number, places
        self._config = work.settings.section(DesignerConfig)
        self._terms = terms_of(work.settings)
        self._note, self._done, self._meter = note, done, meter

    async def author(self, draft: Draft) -> list[Draft]:
        """Return the design with its follow-ups; only the last may have passed its certificate."""
        chain = [draft]
        while True:
            await self._design(draft)
            if not draft.outcome and self._config.hint == "separate":
                await self._hint(draft)
            following = self._following(draft)
            self._tell(draft, following, "followed" if draft.turn else "designed", len(draft.ids))
            if not draft.outcome:
                await self._certify(draft)
                following = self._following(draft)
                self._tell(draft, following, "certified")
            if following is None:
                return chain
            chain.append(following)
            draft = following

    async def _design(self, draft: Draft) -> None:
        draft.seed = derive(self._work.seed, "design", self._number, draft.index)
        entry = self._found("design", draft.index)
        if entry is None:
            entry = {"kind": "design", "index": draft.index}
            entry |= await self._complete(draft.prompt_ids, draft.seed)
            self._note(entry)
        draft.ids, draft.logprobs = tuple(entry["ids"]), tuple(entry["logprobs"])
        draft.stop, draft.text = entry["stop"], self._work.policy.chat.decode(draft.ids)
        design = read_design(draft.text, draft.stop, self._config.hint)
        if isinstance(design, Unreadable):
            draft.refuse("refused", "read", design.reason, design.detail)
        else:
            draft.source, draft.hint, draft.repaired = design.source, design.hint, design.repaired

    async def _hint(self, draft: Draft) -> None:
        entry = self._found("hint", draft.index)
        chat = self._work.policy.chat
        if entry is None:
            prompt = chat.start([Message("user", ask_hint(draft.source))])
            if len(prompt) + self._config.max_tokens > self._work.policy.context:
                detail = "the program is too long to be shown again for its hint; write less"
                draft.refuse("refused", "read", "no_room", detail)
                return
            seed = derive(self._work.seed, "hint", self._number, draft.index)
            entry = await self._complete(prompt, seed)
            entry |= {"kind": "hint", "index": draft.index}
            self._note(entry)
        draft.hint_text = chat.decode(entry["ids"])
        hint = read_hint(draft.hint_text, entry["stop"])
        if isinstance(hint, Unreadable):
            draft.refuse("refused", "hint", hint.reason, hint.detail)
        else:
            draft.hint = hint

    async def _complete(self, prompt_ids: Sequence[int], seed: int) -> dict[str, Any]:
        sampling = Sampling.of(self._config, seed)
        done = await self._work.policy.complete(prompt_ids, sampling)
        return {"ids": done.ids, "logprobs": done.logprobs, "stop": done.stop}

    async def _certify(self, draft: Draft) -> None:
        entry = self._found("certificate", draft.index)
        if entry is None:
            try:
                certificate = await retried(
                    lambda: self._work.workers.certify(
                        draft.source, draft.hint, self._terms, REQUIRED
                    )
                )
            except SandboxFault as fault:
                draft.refuse("faulted", "certificate", "sandbox", str(fault))
                return
            entry = {
                "kind": "certificate",
                "index": draft.index,
                "certificate": certificate.as_json(),
            }
            self._note(entry)
        draft.certificate = Certificate.from_json(entry["certificate"])
        failed, wanted = draft.certificate.failed, draft.brief["setting"]
        if failed is not None:
            draft.refuse("refused", failed.name, "certificate", failed.message)
        elif draft.certificate.setting != wanted:
            detail = f"the brief asked for setting {wanted}, this is {draft.certificate.setting}"
            draft.refuse("refused", "setting", "brief", detail)

    def _following(self, draft: Draft) -> Draft | None:
        """Return the next turn after a refusal; None when there is none or no room for an answer."""
        if draft.outcome != "refused" or draft.turn >= self._config.repair_turns:
            return None
        if draft.stage == "hint" and self._config.hint == "separate":
            return None  # nothing in the program is to blame
        told = follow_up(draft.stage, draft.detail, self._config.hint)
        answer = Message("user", told)
        chat = self._work.policy.chat
        more, appended = next_prompt(chat, draft.messages, draft.ids, draft.stop, [answer])
        prompt = (*draft.prompt_ids, *draft.ids, *more) if appended else tuple(more)
        # A shorter budget than the first answer's would cut the mended one off and blame the design.
        if len(prompt) + self._config.max_tokens > self._work.policy.context:
            return None
        return Draft(
            index=draft.index + self._places,
            place=draft.place,
            brief=draft.brief,
            prompt_ids=prompt,
            messages=(*draft.messages, Spoken("assistant", draft.text), answer),
            turn=draft.turn + 1,
            parent=draft,
        )

    def _tell(self, draft: Draft, following: Draft | None, step: Step, tokens: int = 0) -> None:
        """A design fell where its last follow-up did: earlier turns went on."""
        self._meter.step(step, fell="" if following else draft.stage, tokens=tokens)

    def _found(self, kind: str, index: int) -> dict[str, Any] | None:
        entries = self._done.get((kind, index), ())
        return entries[0] if entries else None
