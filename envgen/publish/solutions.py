"""Playing the reference solution of each environment once, in its jail, for its transcript."""

import json
from collections.abc import Callable, Iterable, Sequence

from envgen.certificate.seal import replies
from envgen.measuring import retried
from envgen.publish.rows import Solution, certificate_of
from memory import EnvironmentRecord
from sandbox import EnvironmentFault, Jail, Message, Sandbox
from spadekit.tasks import together


async def solutions(
    records: Iterable[EnvironmentRecord],
    sandbox: Sandbox,
    parallel: int,
    advance: Callable[[], None],
) -> list[Solution]:
    """Return a transcript for each record in order; none where there is no winning play to show.

    Raises ``SandboxFault`` when the sandbox does not work here.
    """
    found: dict[int, Solution] = {}
    work = iter(enumerate(records))

    async def worker() -> None:
        for place, record in work:

            async def play(record: EnvironmentRecord = record) -> Solution:
                return await _play(record, sandbox)

            found[place] = await retried(play)
            advance()

    await together(worker() for _ in range(parallel))
    return [found[place] for place in range(len(found))]


async def _play(record: EnvironmentRecord, sandbox: Sandbox) -> Solution:
    certificate = certificate_of(record)
    check = certificate.check("solvable")
    if not certificate.seeds or check is None or check.verdict != "pass":
        return Solution()
    try:
        async with await sandbox.open(record.source) as jail:
            return await _solve(jail, certificate.seeds[0])
    except EnvironmentFault:
        # It was sound when it was certified; a limit met on a busy machine loses a transcript only.
        return Solution()


async def _solve(jail: Jail, seed: int) -> Solution:
    # solution() is only asked for in one episode and played in another, as the certificate does.
    async with await jail.episode(seed) as asked:
        actions = await asked.solution()
    async with await jail.episode(seed) as episode:
        messages: list[Message] = list(episode.observation)
        for action in replies(jail.info, actions):
            messages.append(Message("assistant", action))
            step = await episode.step(action)
            messages += step.observation
            if step.terminated or step.truncated:
                break
    return Solution(seed, transcript(messages))


def transcript(messages: Sequence[Message]) -> str:
    """Return messages as JSON text, in the form of a play's transcript."""
    return json.dumps([{"role": m.role, "content": m.content} for m in messages])
