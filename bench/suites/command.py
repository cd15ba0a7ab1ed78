"""What ``bench suites`` does once it is called: load, prove, ask."""

import asyncio
import hashlib
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import typer

from bench.suites.catalogue import SUITES
from bench.suites.config import SuitesConfig
from bench.suites.jail import Jails, Unavailable
from bench.suites.run import Asker, Proof, ask_all, chosen, prove
from bench.suites.store import Marks, Protocol, Result
from bench.suites.suite import Suite
from bench.suites.table import Found, show
from sandbox import SandboxConfig
from solver.config import PolicyConfig, SolverConfig
from solver.engines import open_policy
from solver.policy import Policy, Sampling
from solver.versions import PolicyInfo, Versions
from spadekit.cli import Session
from spadekit.errors import BadInput
from spadekit.files import exclusive


@dataclass(frozen=True)
class Wanted:
    """What the command line asks for. ``model``: judge this one, not a version of the home."""

    only: tuple[str, ...] = ()
    smoke: bool = False
    proof: bool = False
    version: int | None = None
    model: str = ""


def run(session: Session, wanted: Wanted) -> None:
    """Run the suites and print their table; exits 1 where a grader's proof fails."""
    unknown = [name for name in wanted.only if name not in SUITES]
    if unknown:
        raise BadInput(f"no suite {unknown[0]!r}; there are {', '.join(SUITES)}")
    if wanted.model and wanted.version is not None:
        raise BadInput(
            "--policy and --version exclude each other: a version is of the home's model"
        )
    config = session.settings.section(SuitesConfig)
    if wanted.smoke:
        config = replace(config, limit=4, samples=1, reasoning_gym_each=1)
    busy = "another process runs suites in this home; wait for it, or use another --home"
    with exclusive(session.home / "suites" / ".lock", busy):
        found, proofs, results = asyncio.run(_work(session, wanted, config))
    show(session.report, found, proofs, results)
    if not all(one.sound for one in proofs.values()):
        raise typer.Exit(1)


async def _work(
    session: Session, wanted: Wanted, config: SuitesConfig
) -> tuple[Found, dict[str, Proof], list[Result]]:
    sandbox = session.settings.section(SandboxConfig)
    async with AsyncExitStack() as stack:
        jails = await stack.enter_async_context(Jails(sandbox, config.graders))
        found = await _load(session, wanted, config, jails)
        asked = {
            one.name: chosen(one.name, one.questions, config.limit, config.seed)
            for one in found.suites
        }
        proofs: dict[str, Proof] = {}
        if wanted.proof or wanted.smoke:
            with session.report.progress() as progress:
                for suite in found.suites:
                    questions = asked[suite.name]
                    task = progress.add_task(
                        f"proof of {suite.name}", total=len(questions), note=""
                    )
                    proofs[suite.name] = await prove(
                        suite, questions, config.graders, partial(progress.advance, task)
                    )
        if wanted.proof and not wanted.smoke:
            return found, proofs, []
        folder, info = _version(session, wanted)
        policy = await stack.enter_async_context(
            open_policy(folder, _policy_config(session, wanted), session.report.note)
        )
        results = []
        with session.report.progress() as progress:
            for suite in found.suites:
                questions = asked[suite.name]
                task = progress.add_task(suite.name, total=len(questions) * config.samples, note="")
                marks = Marks(session.home, _protocol(session, wanted, config, suite, info))
                try:
                    await ask_all(
                        suite,
                        questions,
                        config.samples,
                        _asker(session, config, policy),
                        marks,
                        partial(progress.advance, task),
                    )
                    results.append(
                        marks.result(suite.group, questions, config.samples, len(suite.questions))
                    )
                finally:
                    marks.close()
        return found, proofs, results


async def _load(session: Session, wanted: Wanted, config: SuitesConfig, jails: Jails) -> Found:
    suites, missing = [], {}
    for name, (_, load) in SUITES.items():
        if wanted.only and name not in wanted.only:
            continue
        try:
            suites.append(
                await asyncio.to_thread(load, config, session.home / "suites" / "data", jails)
            )
        except Unavailable as why:
            if wanted.only:
                raise BadInput(f"{name} cannot be run: {why}") from None
            missing[name] = str(why)
            session.report.note(f"{name}: not available: {why}")
    return Found(tuple(suites), missing)


def _policy_config(session: Session, wanted: Wanted) -> PolicyConfig:
    config = session.settings.section(PolicyConfig)
    return replace(config, model=wanted.model) if wanted.model else config


def _version(session: Session, wanted: Wanted) -> tuple[Path, PolicyInfo]:
    """Return the folder and the record of the policy version to judge, begun where there is none."""
    config = _policy_config(session, wanted)
    home = session.home / "policy"
    if wanted.model:
        name = hashlib.sha256(f"{config.engine} {wanted.model}".encode()).hexdigest()[:12]
        home = session.home / "suites" / "policies" / name
    versions = Versions(home)
    if not versions.all():
        versions.bootstrap(config)
    number = versions.latest() if wanted.version is None else wanted.version
    return versions.path(number), versions.read(number)


def _protocol(
    session: Session, wanted: Wanted, config: SuitesConfig, suite: Suite, info: PolicyInfo
) -> Protocol:
    policy, sampling = _policy_config(session, wanted), _sampling(session, config)
    endpoint = f"{policy.model} at {policy.url}"
    return Protocol(
        suite=suite.name,
        revision=suite.revision,
        policy=endpoint if policy.engine == "chat" else info.weights,
        thinking=policy.thinking,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=sampling.top_k,
        max_tokens=sampling.max_tokens,
        context=_context(session, config),
        seed=config.seed,
        isolation=session.settings.section(SandboxConfig).isolation,
    )


def _asker(session: Session, config: SuitesConfig, policy: Policy) -> Asker:
    return Asker(policy, _sampling(session, config), _context(session, config), config.at_once)


def _sampling(session: Session, config: SuitesConfig) -> Sampling:
    solver = session.settings.section(SolverConfig)
    return Sampling(
        solver.temperature if config.temperature is None else config.temperature,
        solver.max_tokens if config.max_tokens is None else config.max_tokens,
        config.seed,
        solver.top_p if config.top_p is None else config.top_p,
        solver.top_k if config.top_k is None else config.top_k,
    )


def _context(session: Session, config: SuitesConfig) -> int:
    solver = session.settings.section(SolverConfig)
    return solver.context if config.context is None else config.context
