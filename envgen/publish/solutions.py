"""Playing the reference solution of each environment once, in its jail, for its transcript.

A release of the same shards has the same bytes, so a play that does not come out as the certificate
says is never left out: it is tried again, and then it is our fault.
"""

import json
from collections.abc import Callable, Iterable, Sequence

from envgen.certificate.seal import replies
from envgen.measuring import retried
from envgen.publish.rows import Solution, certificate_of
from memory import EnvironmentRecord
from sandbox import EnvironmentFault, Jail, Message, Sandbox, SandboxFault, episode_return
from spadekit.tasks import together


async def solutions(
    records: Iterable[EnvironmentRecord],
    sandbox: Sandbox,
    parallel: int,
    advance: Callable[[], None],
) -> list[Solution]:
    """Return a transcript for each record in order; none where no solution was certified.

    Raises ``SandboxFault`` when the sandbox does not work here, and when a certified solution does
    not play as it did.
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
            messages, turns, won = await _solve(jail, certificate.seeds[0])
    except EnvironmentFault as fault:
        raise _other(record, str(fault)) from None
    certified = (*certificate.turns[:1], *check.evidence.get("returns", ())[:1])
    if certified != (turns, won):
        raise _other(
            record, f"{turns} turns and a return of {won:g} where {certified} was certified"
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


def _other(record: EnvironmentRecord, what: str) -> SandboxFault:
    return SandboxFault(
        f"environment {record.id} of shard {record.shard}: its certified solution does not play here "
        f"as it did ({what}), tried thrice; publish again when this machine is less busy, or release "
        "other shards"
    )


def transcript(messages: Sequence[Message]) -> str:
    """Return messages as JSON text, in the form of a play's transcript."""
    return json.dumps([{"role": m.role, "content": m.content} for m in messages])
