"""Conversations: with a policy, and with reference answers that are read out."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bench.suites.suite import Tools
from solver.chat import Spoken, UnreadableTools
from solver.policy import Policy, Sampling
from solver.thinking import said
from solver.toolcalls import Dialect
from spadekit.seeds import derive


@dataclass
class PolicyTalk:
    """A conversation with a policy, rendered anew for every reply, as a chat endpoint would.

    Nothing is trained on here, so that the prompt of a later turn is what the model's template makes of
    the whole conversation. ``context`` bounds prompt and reply together, in tokens. ``replies`` are
    all it said, its reasoning too; ``notes`` what went wrong on the way.
    """

    policy: Policy
    sampling: Sampling
    context: int
    replies: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    told: list[Spoken] = field(default_factory=list)
    answered: bool = True

    @property
    def dialect(self) -> Dialect:
        """How the model writes tool calls."""
        return self.policy.chat.dialect

    async def say(self, messages: Sequence[Spoken], tools: Tools = ()) -> str:
        """Add messages and let the policy speak; see :class:`bench.suites.suite.Talk`."""
        self.told += messages
        try:
            prompt = self.policy.chat.start(self.told, tools)
        except UnreadableTools:
            return self._nothing("tools that the chat template cannot show")
        room = min(self.context, self.policy.context) - len(prompt)
        if room < 1:
            return self._nothing("no room")
        sampling = replace(
            self.sampling,
            max_tokens=min(self.sampling.max_tokens, room),
            seed=derive(self.sampling.seed, "turn", len(self.replies)),
        )
        completion = await self.policy.complete(prompt, sampling)
        text = self.policy.chat.decode(completion.ids)
        self.replies.append(text)
        self.told.append(Spoken("assistant", text))
        if completion.stop == "length":
            self.notes.append("cut")
        spoken = said(text, self.policy.chat.opened)
        self.answered = spoken.finished
        return spoken.answer if spoken.finished else ""

    def _nothing(self, why: str) -> str:
        self.answered = False
        self.notes.append(why)
        self.told.append(Spoken("assistant", ""))
        return ""


@dataclass
class Reading:
    """A conversation in which the replies are known: they are read out, and then nothing more."""

    replies: Sequence[str] = ()
    dialect: Dialect = "hermes"
    place: int = 0
    answered: bool = True

    async def say(self, messages: Sequence[Spoken], tools: Tools = ()) -> str:
        """Return the next reply."""
        self.place += 1
        return self.replies[self.place - 1] if self.place <= len(self.replies) else ""
