"""Playing the reference solution of each environment once, in its jail, for its transcript.

A play that faults or does not come out as the certificate says is tried again, because a machine may be
busy; when it never does, that is the environment's fault, which is told and concerns no other.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from envgen.certificate.seal import replies
from envgen.measuring import RETRY_AFTER_S, retried
from envgen.publish.rows import Solution, certificate_of
from memory import EnvironmentRecord
from sandbox import EnvironmentFault, Jail, Message, Sandbox, episode_return
from spadekit.tasks import together


async def solutions(
    records: Iterable[EnvironmentRecord],
    sandbox: Sandbox,
    parallel: int,
    advance: Callable[[], None],
) -> list[Solution]:
    """Return a play for each record in order: a transcript, or the reason why there is none.

    Both are empty where no solution was certified. Raises ``SandboxFault`` when the sandbox does not
    work here.
    """
    found: dict[int, Solution] = {}
    work = iter(enumerate(records))

    async def worker() -> None:
        for place, record in work:
            found[place] = await _tried(record, sandbox)
            advance()

    await together(worker() for _ in range(parallel))
    return [found[place] for place in range(len(found))]


async def _tried(record: EnvironmentRecord, sandbox: Sandbox) -> Solution:
    found = Solution()
    for pause in (0.0, *RETRY_AFTER_S):
        await asyncio.sleep(pause)
        found = await retried(partial(_play, record, sandbox))
        if not found.fault:
            break
    return found


async def _play(record: EnvironmentRecord, sandbox: Sandbox) -> Solution:
    certificate = certificate_of(record)
    check = certificate.check("solvable")
    if not certificate.seeds or check is None or check.verdict != "pass":
        return Solution()
    try:
        async with await sandbox.open(record.source) as jail:
            messages, turns, won = await _solve(jail, certificate.seeds[0])
    except EnvironmentFault as fault:
        # Its detail may quote the program, and the card, where this is told, is not searched.
        return Solution(fault=f"{fault.stage}: {fault.reason}")
    certified = (*certificate.turns[:1], *check.evidence.get("returns", ())[:1])
    if certified != (turns, won):
        return Solution(
            fault=f"{turns} turns and a return of {won:g} where {certified} was certified"
        )
    return Solution(certificate.seeds[0], transcript(messages))


async def _solve(jail: Jail, seed: int) -> tuple[list[Message], int, float]:
    """Return the messages of a play, its turns and its return."""
    # solution() is only asked for in one episode and played in another, as the certificate does.
    async with await jail.episode(seed) as asked:
        actions = await asked.solution()
    async with await jail.episode(seed) as episode:
        messages: list[Message] = list(episode.observation)
        turns, won = 0, 0.0
        for action in replies(jail.info, actions):
            messages.append(Message("assistant", action))
            step = await episode.step(action)
            messages += step.observation
            turns, won = turns + 1, episode_return(step.reward, step.terminated)
            if step.terminated or step.truncated:
                break
    return messages, turns, won


def transcript(messages: Sequence[Message]) -> str:
    """Return messages as JSON text, in the form of a play's transcript."""
    return json.dumps([{"role": m.role, "content": m.content} for m in messages])
