"""One attempt at a certificate: jails, plays in them, and the checks in their order."""

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from types import TracebackType
from typing import Self

from envgen.certificate import checks
from envgen.certificate.hint import check_hint
from envgen.certificate.odds import alike, too_many
from envgen.certificate.players import COINS, baselines, odd_actions, unboxed
from envgen.certificate.plays import Game, Instance, Player, Table, Trace, said, script
from envgen.certificate.record import Check
from envgen.certificate.seal import Seal, probes, replies
from envgen.certificate.search import QUICK
from envgen.certificate.shift import shifted
from envgen.certificate.source import SourceFacts
from envgen.certificate.terms import Terms
from sandbox import EnvironmentFault, Jail, JailInfo, Observation, Sandbox
from spadekit.seeds import derive
from spadekit.tasks import together

SEEDS = 8
FIXED_SEEDS = (11, 222, 3333)
"""Always among the seeds: fingerprints are comparable only on the same ones."""
MORE_SEEDS = 32
IDLE_TURNS = 100
HASH_SEEDS = (1_234_567, 42)
FEW = {"nothing": 3, "echo": 3, "first": 3, "nonsense": 0, "borrowed": 3, "guess": 4, "halving": 5}
"""These win nearly always or nearly never, so fewer plays find it out; one win asks for more."""
ASKED_FIRST = 16
"""Of so many more seeds the answers are compared first; where they are varied, that is enough."""
PARALLEL = 8
SLOW_S = 0.05

Other = asyncio.Task[Jail | EnvironmentFault]
"""A jail of the replays on its way, or why the source does not load there."""


class Work:
    """Plays everything in one jail and replays some of it in others; ``checks`` tells the verdicts.

    The others have another hash seed and clock; they start while the first one already plays. Where
    the source builds sets or hashes there are two of them, because two orders of a small set
    agree too often. An async context manager: leaving it ends its jails.
    """

    info: JailInfo | None = None
    turns: tuple[int, ...] = ()
    known: Sequence[Sequence[str]] = ()
    fingerprint: str = ""

    def __init__(
        self,
        source: str,
        hint: str | None,
        sandbox: Sandbox,
        facts: SourceFacts,
        *,
        seed: int,
        terms: Terms,
    ) -> None:
        self.source, self.hint, self.sandbox, self.facts = source, hint, sandbox, facts
        self.terms = terms
        drawn = [derive(seed, "certificate", index) % 2**31 for index in range(MORE_SEEDS + 5)]
        self.seeds = (*FIXED_SEEDS, *drawn[: SEEDS - len(FIXED_SEEDS)])
        self.more_seeds = tuple(drawn[-MORE_SEEDS:])
        self.others: tuple[Other, ...] = ()
        self.jails: list[Jail] = []

    async def __aenter__(self) -> Self:
        source = self.source
        if self.facts.looks_around or self.facts.draws:
            source = shifted(source, self.facts.draws)
        hash_seeds = HASH_SEEDS if self.facts.hashes else HASH_SEEDS[:1]
        self.others = tuple(asyncio.create_task(self._other(source, seed)) for seed in hash_seeds)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self.others:
            task.cancel()
        await asyncio.gather(*self.others, return_exceptions=True)
        await asyncio.gather(*(jail.close() for jail in self.jails))

    @property
    def jail_lost(self) -> bool:
        """Whether a jail of this attempt ended while we used it."""
        return any(not jail.alive for jail in self.jails)

    async def checks(self) -> AsyncGenerator[Check]:
        """Yield every check from ``loads`` on. Stop asking at the first that fails."""
        try:
            jail = await self._open(self.source, 0)
        except EnvironmentFault as fault:
            message = f"the source does not load: {fault.reason}: {fault.detail}"
            yield Check("loads", "fail", message, {"reason": fault.reason, "detail": fault.detail})
            return
        info = self.info = jail.info
        yield Check("loads", "pass", f"{info.class_name}: {info.title}")

        table, instances, odd = await self._instances(jail)
        early = checks.contract(instances, odd, info)
        if early.verdict == "fail":
            yield early
            return

        self.known = [one.solution or () for one in instances]
        sides = self._sides(info, instances)
        caps = {"nothing": IDLE_TURNS}
        names = [
            (one.seed, name)
            for place, one in enumerate(instances)
            for name in sides[one.seed]
            if place < FEW.get(name, SEEDS)
        ]
        reference = [
            Game(
                one.seed,
                script(replies(info, one.solution)),
                self.terms.max_turns,
                weighed=one.seed in FIXED_SEEDS,
            )
            for one in instances
            if one.solution
        ]
        skilless = [
            Game(
                seed,
                sides[seed][name],
                caps.get(name, self.terms.max_turns),
                weighed=name == "nothing" and seed == FIXED_SEEDS[0],
            )
            for seed, name in names
        ]
        wrong_ones = probes(info, instances, self.terms.max_turns)
        traces = await table.play([*reference, *skilless, *(game for _, game in wrong_ones)])
        plays, rest = traces[: len(reference)], traces[len(reference) :]
        based, probed = rest[: len(skilless)], rest[len(skilless) :]
        by_name = {
            name: [t for (_, n), t in zip(names, based, strict=True) if n == name]
            for name in dict.fromkeys(name for _, name in names)
        }

        yield checks.contract(instances, [*odd, *traces])
        # A player that is wrong in an ordinary way shows how mistakes are answered.
        wrong = by_name["echo" if info.setting == "game" else "first"]
        replays = [one for one in (*plays, *wrong) if one.seed in FIXED_SEEDS]
        yield await self._deterministic(instances, traces, replays)
        # What differs may be hidden, as a backend's data or a secret number: actions bring it out.
        askers = ("nothing", "halving") if info.setting == "game" else ("first",)
        asked = [by_name.get(name, []) for name in askers]
        yield checks.seeded(instances, asked, plays, info.setting)
        yield await self._solvable(table, instances, plays)
        self.turns = tuple(len(trace.turns) for trace in plays)
        if info.setting == "game" and any(checks.won(trace, {}, 1.0) for trace in odd):
            by_name["nonsense"] = await self._more(table, "nonsense")
        wins = await self._wins(table, plays, by_name)
        answers = await self._answers(table, instances)
        if answers:
            wins["answers"] = alike(answers)
        nontrivial = checks.nontrivial(wins, info.setting, len(set(answers)), self.terms.guessable)
        if nontrivial.verdict == "pass":
            yield nontrivial
        marked = [(marks, t) for (marks, _), t in zip(wrong_ones, probed, strict=True)]
        seal = Seal(table, instances, plays, self.more_seeds, self.terms.max_turns)
        sealed = await seal.check([*odd, *based], marked)
        if nontrivial.verdict == "fail":
            yield checks.left_to_sealed(
                nontrivial, checks.skilless_winner(wins, self.terms.guessable), sealed
            )
        yield sealed
        yield check_hint(self.hint, [one.solution or () for one in instances])
        yield checks.bounded(by_name["nothing"], [*odd, *traces], IDLE_TURNS, info.max_turns)
        self.fingerprint = fingerprint(replays)

    async def _open(self, source: str, hash_seed: int) -> Jail:
        jail = await self.sandbox.open(source, hash_seed=hash_seed)
        self.jails.append(jail)
        return jail

    async def _other(self, source: str, hash_seed: int) -> Jail | EnvironmentFault:
        try:
            return await self._open(source, hash_seed)
        except EnvironmentFault as fault:
            return fault

    async def _instances(self, jail: Jail) -> tuple[Table, list[Instance], list[Trace]]:
        """Reset every seed and send odd actions, the first seed alone.

        It tells the pace and what is close to a right action, and a hang costs one wait only.
        """
        began = time.monotonic()
        instances, _ = await Table(jail, 1).instances(self.seeds[:1])
        slow = time.monotonic() - began > SLOW_S
        table = Table(jail, 2 if slow else PARALLEL)
        fault = instances[0].fault
        if fault is not None and fault.stage != "solution":
            return table, instances, []
        actions = odd_actions(jail.info, instances[0].solution or ())
        seeds = self.seeds[1:]
        tails = [actions[place :: len(seeds)] for place in range(len(seeds))]
        hung = fault is not None and fault.reason == "timeout"
        more, odd = await table.instances(seeds, not hung, tails)
        instances += more
        if checks.contract(instances, odd).verdict == "pass":
            left = [tail[len(one.turns) :] for tail, one in zip(tails, odd, strict=True)]
            odd += await self._odd(table, [action for rest in left for action in rest])
        return table, instances, odd

    async def _odd(self, table: Table, actions: Sequence[str]) -> list[Trace]:
        """Send odd actions, three chains at once; where an episode ends, the next one goes on."""

        async def chain(seed: int, rest: Sequence[str]) -> list[Trace]:
            traces = []
            while rest:
                [trace] = await table.play([Game(seed, script(rest), len(rest))])
                traces.append(trace)
                if trace.fault is not None or not trace.turns:
                    break
                rest = rest[len(trace.turns) :]
            return traces

        done = await together(
            chain(seed, actions[place::3]) for place, seed in enumerate(self.seeds[:3])
        )
        return [trace for traces in done for trace in traces]

    async def _deterministic(
        self, instances: Sequence[Instance], traces: Sequence[Trace], replays: Sequence[Trace]
    ) -> Check:
        firsts: dict[int, list[Observation]] = {one.seed: [one.first] for one in instances}
        for trace in traces:
            firsts[trace.seed].append(trace.first)
        pairs: list[tuple[Trace, Trace]] = []
        for copies in await together(_replay(task, replays) for task in self.others):
            pairs += zip(replays, copies, strict=False)
        return checks.deterministic(firsts, pairs)

    async def _solvable(
        self, table: Table, instances: Sequence[Instance], plays: Sequence[Trace]
    ) -> Check:
        played = {trace.seed: trace for trace in plays}
        every = [played.get(one.seed, Trace(one.seed, one.first, ())) for one in instances]
        plain = None
        for one in instances:
            lost = one.seed in played and played[one.seed].reward <= checks.SOLVED
            if lost and table.jail.info.setting == "game":
                bare = tuple(unboxed(action) for action in one.solution or ())
                [plain] = await table.play([Game(one.seed, script(bare), self.terms.max_turns)])
                break
        return checks.solvable(instances, every, plain, self.terms.max_turns, self.facts.on_reply)

    async def _wins(
        self, table: Table, plays: Sequence[Trace], by_name: dict[str, list[Trace]]
    ) -> dict[str, tuple[int, int]]:
        reference = {trace.seed: trace.reward for trace in plays}
        usual = min(reference.values(), default=1.0)
        won: dict[str, tuple[int, int]] = {}
        for name, traces in by_name.items():
            longest = QUICK if name == "halving" else IDLE_TURNS
            played = list(traces)
            for attempt in range(2):
                # A win or two may be luck: ask again, with enough plays to tell.
                played += await self._more(table, name) if attempt else []
                wins = [t for t in played if checks.won(t, reference, usual)]
                won[name] = sum(len(t.turns) <= longest for t in wins), len(played)
                clear = name == "halving" or (name != "borrowed" and too_many(*won[name]))
                if not won[name][0] or clear:
                    break
        return won

    async def _answers(self, table: Table, instances: Sequence[Instance]) -> list[str]:
        """Return the answers of many seeds, if a play is a single answer and two are the same."""
        found = list(instances)
        for more in ((), self.more_seeds[:ASKED_FIRST], self.more_seeds[ASKED_FIRST:]):
            found += (await table.instances(more))[0] if more else []
            plays = [one.solution for one in found]
            if table.jail.info.setting != "game" or any(len(play or ()) != 1 for play in plays):
                return []
            answers = [unboxed(play[0]).strip() for play in plays if play]
            same, pairs = alike(answers)
            if same <= (self.terms.guessable * pairs if more else 0):
                break
        return answers

    async def _more(self, table: Table, name: str) -> list[Trace]:
        """Let one skill-less player play 32 seeds more."""
        instances, _ = await table.instances(self.more_seeds, solve=False)
        sides = self._sides(table.jail.info, instances)
        games = [
            Game(seed, some[name], self.terms.max_turns)
            for seed, some in sides.items()
            if name in some
        ]
        return await table.play(games)

    def _sides(
        self, info: JailInfo, instances: Sequence[Instance]
    ) -> dict[int, dict[str, Callable[[], Player]]]:
        """Return the players without skill for each seed; some know another seed's solution."""
        sides = {}
        guessed = all(len(play) == 1 and unboxed(play[0]).lower() in COINS for play in self.known)
        for place, one in enumerate(instances):
            found = baselines(info, one.first, derive(one.seed, "baseline"), place)
            other = replies(info, self.known[(place + 1) % len(self.known)])
            if info.setting == "game" and other:
                found["guess" if guessed else "borrowed"] = script(other)
            sides[one.seed] = found
        return sides


def fingerprint(traces: Sequence[Trace]) -> str:
    """Return the SHA-256 of what scripted actions led to: observations, rewards, endings."""
    told = [
        [
            trace.seed,
            said(trace.first),
            [[said(t.observation), t.reward, t.terminated, t.truncated] for t in trace.turns],
        ]
        for trace in traces
    ]
    return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()


async def _replay(task: Other, replays: Sequence[Trace]) -> list[Trace]:
    jail = await task
    if isinstance(jail, EnvironmentFault):
        return [Trace(replays[0].seed, (), (), jail)] if replays else []
    # Backwards, so that what one episode leaves behind for the next does not match.
    games = [
        Game(one.seed, script([turn.action for turn in one.turns]), len(one.turns))
        for one in reversed(replays)
    ]
    return (await Table(jail, PARALLEL).play(games))[::-1]
