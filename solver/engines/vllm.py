"""The engine ``vllm``: a vLLM server. Token ids go out, ids and their log-probabilities come back.

The server samples what this package asks for and nothing else: every sampling parameter is sent, since
a server takes the missing ones from the model's ``generation_config.json``. What it serves is checked
before the first sample (model, tokenizer, log-probabilities of the sampled distribution), and again
whenever it could have been restarted. Requests of a conversation share its prefix cache.

Samples are not repeatable: which requests share a batch is the server's to say, and with it the last
bits of every probability. So no seeds are sent; a vLLM server on a CPU dies of one when the prompt that
came with it is read in parts ("CPU Generator does not use offset", seen in 0.32).
"""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sandbox import Message
from solver.chat import Chat
from solver.config import PolicyConfig
from solver.engines.http import MOST_ERRORS, Endpoint, Refused
from solver.engines.untied import HEAD
from solver.engines.vllm_weights import HOW, ServedWeights
from solver.policy import Bill, Completion, Sampling
from solver.validation import TEXT, configuration, differing
from solver.versions import version_of
from spadekit.errors import BadInput, OurFault

COMPLETIONS = "/v1/completions"
UNSHAPED = {"min_p": 0.0, "repetition_penalty": 1.0}


class VllmEngine:
    """A policy that a vLLM server serves. Make one with :meth:`open`."""

    def __init__(self, endpoint: Endpoint, folder: Path, note: Callable[[str], None]) -> None:
        self._endpoint = endpoint
        self._note = note
        self.chat = Chat.open(folder, endpoint.config.thinking)
        self._stop_ids = sorted(self.chat.stop_ids)
        self._version = version_of(folder)
        self._gate = asyncio.Lock()
        self._checking = asyncio.Lock()
        self._idle = asyncio.Event()
        self._flying = 0
        self._doubt = False
        self._model = ""
        self._context = 0

    @classmethod
    async def open(
        cls, folder: Path, config: PolicyConfig, note: Callable[[str], None]
    ) -> "VllmEngine":
        """Reach the server, check what it serves and put the weights of ``folder`` into it.

        Raises ``BadInput`` when nothing answers, or when the server serves another model or another
        tokenizer, or gives no log-probabilities that training could use.
        """
        engine = cls(Endpoint(config), folder, note)
        try:
            await engine._begin(folder)
        except BaseException:
            await engine.close()
            raise
        return engine

    @property
    def version(self) -> int:
        """The policy version now serving."""
        return self._version

    @property
    def context(self) -> int:
        """Most tokens of a prompt and its completion together, as the server was started."""
        return self._context

    @property
    def forward_seconds(self) -> float:
        """Seconds during which the server had a request of ours."""
        return self._endpoint.busy_seconds

    def traffic(self) -> str:
        """Requests, tokens and cost so far, in one line."""
        return self._endpoint.traffic.line(self._endpoint.config)

    def bill(self) -> Bill:
        """Tokens and cost by the endpoint's own count; see :class:`solver.policy.Billed`."""
        return self._endpoint.traffic.bill(self._endpoint.config)

    async def complete(self, prompt_ids: Sequence[int], sampling: Sampling) -> Completion:
        """Sample one completion of ``prompt_ids``; see :class:`solver.policy.Policy`."""
        if not prompt_ids:
            raise ValueError("an empty prompt cannot be completed")
        if len(prompt_ids) + sampling.max_tokens > self.context:
            raise ValueError(
                f"{len(prompt_ids)} prompt tokens and {sampling.max_tokens} new ones exceed "
                f"the server's context of {self.context}"
            )
        async with self._flight() as version:
            body = self._request(prompt_ids, sampling)
            try:
                for _ in range(MOST_ERRORS):
                    answer = await self._endpoint.patient(
                        COMPLETIONS, body, before_retry=self._recheck
                    )
                    choice = answer["choices"][0]
                    if choice["finish_reason"] in ("stop", "length"):
                        break
                    # The server gave the request up, which is what a pause by somebody else does.
                    await self._recheck()
                else:
                    raise OurFault(f"{self._endpoint.url} gives up every try of a request")
                self._endpoint.traffic.count(answer.get("usage"))
                return self._completion(choice, len(prompt_ids), version)
            except Refused as error:
                raise OurFault(f"{self._endpoint.url} refused a request ({error})") from error
            except (KeyError, IndexError, TypeError, AttributeError) as error:
                raise OurFault(
                    f"{self._endpoint.url}{COMPLETIONS} answered without {error}: it is no vLLM "
                    "server, or an old one"
                ) from error

    async def load(self, version_dir: Path) -> None:
        """Switch to the weights in ``version_dir`` once what is being sampled is done.

        Raises ``BadInput`` before anything is changed when the folder does not fit the model served,
        and ``OurFault`` when it cannot be read, what is being sampled does not end, or the server does
        not take it, each within ``policy.load_s``; the old weights then go on serving.
        """
        async with self._deadline(f"{version_dir} was not read"):
            stamp = await asyncio.to_thread(self._weights.check, version_dir)
            version = await asyncio.to_thread(version_of, version_dir)
        async with self._gate:
            async with self._deadline("requests that were being answered did not end"):
                while self._flying:
                    self._idle.clear()
                    await self._idle.wait()
            await self._serve(version_dir, stamp)
            self._version = version

    @asynccontextmanager
    async def _deadline(self, what: str) -> AsyncIterator[None]:
        limit = self._endpoint.config.load_s
        try:
            async with asyncio.timeout(limit):
                yield
        except TimeoutError:
            raise OurFault(
                f"{what} within policy.load_s = {limit:g}; the weights of version {self._version} go "
                "on serving"
            ) from None

    async def close(self) -> None:
        """Close the connections; the server goes on serving."""
        await self._endpoint.close()

    async def _begin(self, folder: Path) -> None:
        url = self._endpoint.url
        try:
            models = (await self._endpoint.once("GET", "/v1/models"))["data"]
            bases = [one for one in models if not one.get("parent")]
        except OurFault as fault:
            raise BadInput(
                f"the policy cannot be reached: {fault}; start a vLLM server there, or set policy.url"
            ) from None
        except (Refused, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"{url} is no vLLM server ({error}); see policy.url") from None
        if len(bases) != 1 or "max_model_len" not in bases[0]:
            raise BadInput(f"{url} is no vLLM server with one model; see policy.url")
        self._model, self._context = bases[0]["id"], int(bases[0]["max_model_len"])
        root = Path(str(bases[0].get("root") or ""))
        await asyncio.to_thread(self._check_model, folder, root)
        self._weights = ServedWeights(self._endpoint, root, self._note)
        try:
            await self._weights.begin(folder)
            await self._check_tokenizer()
            await self._serve(folder, await asyncio.to_thread(self._weights.check, folder))
            await self._check_logprobs()
        except Refused as error:
            raise BadInput(f"{url} refuses what a policy needs ({error})") from None

    async def _serve(self, folder: Path, stamp: str) -> None:
        """Have the server serve a folder, unless it does already."""
        if not self._weights.switchable:
            if not await asyncio.to_thread(self._weights.same_as_root, folder):
                raise BadInput(
                    f"{self._endpoint.url} serves other weights than {folder} and cannot switch: {HOW}"
                )
        elif stamp == await self._weights.stamp():
            await self._weights.serving(folder, stamp)
        else:
            await self._weights.switch(folder, stamp)
        self._served = (folder, stamp)

    @asynccontextmanager
    async def _flight(self) -> AsyncIterator[int]:
        """One request in the air, and the version it is sampled with; no switch happens meanwhile."""
        async with self._gate:
            if self._doubt or not self._flying:
                await self._check()
            self._flying += 1
            version = self._version
        try:
            yield version
        finally:
            self._flying -= 1
            if not self._flying:
                self._idle.set()

    async def _recheck(self) -> None:
        """After a failed try: the server that comes back may have the weights it was started with."""
        self._doubt = True
        await self._check()

    async def _check(self) -> None:
        """Make sure that the server still serves what this engine says it does."""
        async with self._checking:
            if not self._weights.switchable:
                self._doubt = False
                return
            folder, stamp = self._served
            if (found := await self._patient_stamp()) != stamp:
                self._note(f"policy: {self._endpoint.url} came back with other weights ({found})")
                await self._weights.switch(folder, stamp)
            self._doubt = False

    async def _patient_stamp(self) -> str:
        answer = await self._endpoint.patient("/weight_info", None, method="GET")
        return str(answer["weight_version"])

    def _request(self, prompt_ids: Sequence[int], sampling: Sampling) -> dict[str, Any]:
        return {
            "model": self._model,
            "prompt": list(prompt_ids),
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": sampling.top_k,
            "stop_token_ids": self._stop_ids,
            "skip_special_tokens": False,
            "return_token_ids": True,
            "return_tokens_as_token_ids": True,
            "logprobs": 0,
            **UNSHAPED,
        }

    def _completion(self, choice: dict[str, Any], prompt: int, version: int) -> Completion:
        ids = tuple(choice["token_ids"])
        logprobs = tuple(choice["logprobs"]["token_logprobs"])
        ended = choice["finish_reason"] == "stop"
        sound = (
            len(ids) == len(logprobs) > 0
            and all(isinstance(value, float | int) and math.isfinite(value) for value in logprobs)
            and len(choice["prompt_token_ids"]) == prompt
            and ended == (ids[-1] in self.chat.stop_ids)
        )
        if not sound:
            raise OurFault(
                f"{self._endpoint.url} answered {len(ids)} ids with {len(logprobs)} log-probabilities "
                f"that do not go together ({choice['finish_reason']})"
            )
        return Completion(ids, logprobs, "end" if ended else "length", version)

    def _check_model(self, folder: Path, root: Path) -> None:
        if not (root / "config.json").is_file():
            return  # Not to be seen from here; the tokenizer and the weights still have to fit.
        mine, served = configuration(folder), configuration(root)
        if (root / HEAD).is_file():
            mine["tie_word_embeddings"] = False
        odd = differing(mine, served)
        if odd:
            raise BadInput(
                f"{self._endpoint.url} serves another model than {folder}: {root} has {odd} = "
                f"{served.get(odd)}, this one has {mine.get(odd)}; serve the home's model"
            )

    async def _check_tokenizer(self) -> None:
        """Compare the tokenizers on text and all special tokens; a server without one passes."""
        tokenizer = self.chat.tokenizer
        text = TEXT + "".join(tokenizer.all_special_tokens)
        body = {"model": self._model, "prompt": text, "add_special_tokens": False}
        try:
            answer = await self._endpoint.once("POST", "/tokenize", body)
        except (Refused, OurFault):
            return  # Started with --skip-tokenizer-init: ids are all it knows.
        if answer["tokens"] != tokenizer.encode(text, add_special_tokens=False):
            raise BadInput(
                f"{self._endpoint.url} has another tokenizer than the policy; serve the home's model"
            )

    async def _check_logprobs(self) -> None:
        """Refuse a server whose log-probabilities are not of the distribution it samples from.

        Between the two likeliest tokens of one position their difference halves at temperature 2,
        unless the server reports them from before the temperature was applied.
        """
        gaps = []
        prompt = self.chat.start([Message("user", TEXT)])
        for temperature in (1.0, 2.0):
            body = self._request(prompt, Sampling(temperature, 1, 1)) | {"logprobs": 2}
            choice = (await self._endpoint.once("POST", COMPLETIONS, body))["choices"][0]
            try:
                first, second, *_ = sorted(choice["logprobs"]["top_logprobs"][0].values())[::-1]
                self._completion(choice, len(prompt), 0)
            except (KeyError, IndexError, TypeError, ValueError, AttributeError):
                raise BadInput(
                    f"{self._endpoint.url} gives no token ids and log-probabilities, which training "
                    "needs; it must be vLLM 0.29 or newer"
                ) from None
            gaps.append(first - second)
        if gaps[1] > 0.75 * gaps[0] + 1e-4:
            raise BadInput(
                f"{self._endpoint.url} gives log-probabilities from before the temperature; start it "
                "with --logprobs-mode processed_logprobs"
            )
