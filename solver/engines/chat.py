"""The engine ``chat``: any OpenAI-compatible endpoint. Text goes out and comes in, nothing is trained on.

There is no weights' switch here: the policy version is that of the home, and its folder only says
which model it is (see ``solver.versions``).
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from solver.config import PolicyConfig
from solver.engines.http import Endpoint, Refused
from solver.engines.words import END, Words, encode
from solver.policy import Bill, Completion, Sampling
from solver.versions import PolicyInfo
from spadekit.errors import BadInput, OurFault

COMPLETIONS = "/chat/completions"
LONGEST = 2**20
"""The context is the endpoint's to know: it says so when a conversation has outgrown it."""
OVERFLOW = ("context length", "context_length", "maximum context", "too many tokens", "too long")


class ChatEngine:
    """A model behind ``/chat/completions``. Make one with :meth:`open`."""

    def __init__(self, endpoint: Endpoint, version: int) -> None:
        self.chat = Words()
        self._endpoint = endpoint
        self._model = endpoint.config.model
        self._version = version
        self._limit = "max_tokens"

    @classmethod
    async def open(
        cls, folder: Path, config: PolicyConfig, note: Callable[[str], None]
    ) -> "ChatEngine":
        """Reach the endpoint and ask it for one token.

        Raises ``BadInput`` when nothing answers, the key is refused or the model is not known.
        """
        info = _told(folder, config)
        engine = cls(Endpoint(config), info.version)
        try:
            await engine._say([{"role": "user", "content": "Say yes."}], Sampling(0.0, 16, 0), True)
        except Refused as error:
            await engine.close()
            raise _misuse(engine._endpoint, error) from None
        except OurFault as fault:
            await engine.close()
            raise BadInput(f"the policy cannot be reached: {fault}; see policy.url") from None
        except BaseException:
            await engine.close()
            raise
        note(f"policy: {config.model} at {engine._endpoint.url}, text only")
        return engine

    @property
    def version(self) -> int:
        """The policy version of the home."""
        return self._version

    @property
    def context(self) -> int:
        """A bound that is never met; the endpoint says when a conversation is too long for it."""
        return LONGEST

    @property
    def forward_seconds(self) -> float:
        """Seconds during which the endpoint had a request of ours."""
        return self._endpoint.busy_seconds

    def traffic(self) -> str:
        """Requests, tokens and cost so far, in one line."""
        return self._endpoint.traffic.line(self._endpoint.config)

    def bill(self) -> Bill:
        """Tokens and cost by the endpoint's own count; see :class:`solver.policy.Billed`."""
        return self._endpoint.traffic.bill(self._endpoint.config)

    async def complete(self, prompt_ids: Sequence[int], sampling: Sampling) -> Completion:
        """Send the conversation that ``prompt_ids`` hold and return the reply, without log-probabilities.

        A conversation that is too long for the model, and a reply that the endpoint filtered away,
        are empty replies of the policy's.
        """
        try:
            choice = await self._say(self.chat.messages(prompt_ids), sampling)
        except Refused as error:
            if error.status in (400, 413) and any(
                sign in error.message.lower() for sign in OVERFLOW
            ):
                return Completion((), (), "length", self._version)
            raise _misuse(self._endpoint, error) from None
        content = choice["message"].get("content")
        ids = encode(content if isinstance(content, str) else "")
        if choice.get("finish_reason") == "length":
            return Completion(tuple(ids), (), "length", self._version)
        return Completion((*ids, END), (), "end", self._version)

    async def load(self, version_dir: Path) -> None:
        """Nothing to load; raises ``BadInput`` for a version that is not this endpoint's model."""
        info = await asyncio.to_thread(_told, version_dir, self._endpoint.config)
        self._version = info.version

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    async def _say(
        self, messages: list[dict[str, str]], sampling: Sampling, first: bool = False
    ) -> dict[str, Any]:
        """Ask for one reply; return its choice, checked for its form."""
        body: dict[str, Any] = {
            "model": self._model,
            "messages": messages,
            "temperature": sampling.temperature,
            self._limit: sampling.max_tokens,
        }
        # Asked for only where they say something: `top_k` is not OpenAI's, some refuse it.
        body |= {"top_p": sampling.top_p} if sampling.top_p < 1 else {}
        body |= {"top_k": sampling.top_k} if sampling.top_k else {}
        try:
            if first:
                answer = await self._endpoint.once("POST", COMPLETIONS, body)
            else:
                answer = await self._endpoint.patient(COMPLETIONS, body)
        except Refused as error:
            # Some models know the limit by its newer name only.
            if first and self._limit == "max_tokens" and "max_completion_tokens" in error.message:
                self._limit = "max_completion_tokens"
                return await self._say(messages, sampling, first)
            raise
        try:
            self._endpoint.traffic.count(answer.get("usage"))
            choice: dict[str, Any] = answer["choices"][0]
            choice["message"].get("content")
        except (AttributeError, KeyError, IndexError, TypeError):
            raise OurFault(
                f"{self._endpoint.url}{COMPLETIONS} answers in another form than OpenAI's; "
                "see policy.url"
            ) from None
        return choice


def _told(folder: Path, config: PolicyConfig) -> PolicyInfo:
    """Read a version's record and check that it is this endpoint's model."""
    info = PolicyInfo.read(folder)
    if info.model != config.model or (folder / "config.json").exists():
        raise BadInput(
            f"{folder} is a version of {info.model or 'a trained model'}, not of {config.model} "
            "behind an endpoint; use another --home"
        )
    return info


def _misuse(endpoint: Endpoint, error: Refused) -> BadInput:
    mend = {
        401: "policy.key_variable",
        403: "policy.key_variable",
        404: "policy.url and policy.model",
    }
    return BadInput(
        f"{endpoint.url} refuses the request ({error}); see {mend.get(error.status, 'the recipe')}"
    )
