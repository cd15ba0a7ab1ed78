"""Certifying one source: the checks in their order, each tried until one fails."""

import asyncio
import time
from collections.abc import Collection
from contextlib import aclosing

from envgen.certificate.code import code_digest
from envgen.certificate.record import Certificate, Check
from envgen.certificate.source import check_source
from envgen.certificate.terms import DEFAULT, Terms
from envgen.certificate.work import Work
from sandbox import Sandbox, SandboxFault

TRIES = 2


async def certify(
    source: str,
    hint: str | None,
    sandbox: Sandbox,
    *,
    seed: int = 0,
    terms: Terms = DEFAULT,
    required: Collection[str] = (),
) -> Certificate:
    """Check that a source is a sound environment and a hint a legal one.

    Ordered checks (``record.CHECKS``); the first that fails is the last that is reported. Only
    ``fail`` refuses; a check named in ``required`` refuses on ``unknown`` too. ``seed`` chooses
    five of the eight seeds that are played, three are always the same. Everything is played in the
    sandbox through the same door as a policy's reply.

    Raises ``SandboxFault`` when the sandbox fails: a fault of ours is never a verdict.
    """
    started = time.monotonic()
    check, facts = check_source(source, sandbox.config.max_source_bytes)
    checks, work = [check], None
    for attempt in range(TRIES if facts else 0):
        assert facts is not None
        checks = [check]
        work = Work(source, hint, sandbox, facts, seed=seed, terms=terms)
        try:
            async with work, aclosing(work.checks()) as found:
                async for one in found:
                    checks.append(_strict(one, required))
                    if checks[-1].verdict == "fail":
                        break
            break
        except SandboxFault:
            # A jail that is gone twice was ended by what runs in it; once may have been us.
            if not work.jail_lost:
                raise
            if attempt == TRIES - 1:
                message = "the whole jail ends while it is played; do not kill, fork or exhaust it"
                lost = Check("contract", "fail", message, {"reason": "crashed"})
                checks = [one for one in checks if one.name in ("source", "loads")] + [lost]
    # Only here: whoever reads certificates needs no tables.
    from memory.schema import environment_id

    info = work.info if work else None
    return Certificate(
        accepted=all(check.verdict != "fail" for check in checks),
        checks=tuple(checks),
        class_name=info.class_name if info else "",
        title=info.title if info else "",
        description=info.description if info else "",
        setting=info.setting if info else "",
        tools=info.tools if info else (),
        seeds=work.seeds if work else (),
        turns=work.turns if work else (),
        fingerprint=work.fingerprint if work else "",
        seconds=round(time.monotonic() - started, 4),
        isolation=sandbox.config.isolation,
        environment=environment_id(info.setting, source, hint or "") if info else "",
        code=code_digest(),
    )


def certify_sync(
    source: str, hint: str | None, sandbox: Sandbox, *, seed: int, terms: Terms
) -> Certificate:
    """Do the same where no event loop runs; opens and closes ``sandbox``."""

    async def main() -> Certificate:
        async with sandbox:
            return await certify(source, hint, sandbox, seed=seed, terms=terms)

    return asyncio.run(main())


def _strict(check: Check, required: Collection[str]) -> Check:
    if check.name in required and check.verdict == "unknown":
        return Check(check.name, "fail", check.message, check.evidence)
    return check
