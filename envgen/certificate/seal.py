"""The ``sealed`` check: what texts seem to tell is tried out by playing it."""

from collections.abc import Sequence

from envgen.certificate import checks
from envgen.certificate.leaks import Marks, suspects
from envgen.certificate.players import boxed, wrong_for
from envgen.certificate.plays import Game, Instance, Table, Trace, script
from envgen.certificate.reading import readers
from envgen.certificate.record import Check
from sandbox import JailInfo, game_action

PROBED = 4
"""On so many seeds the solution is played with mistakes in between; for tools on so many more."""
ODD_TURNS = 100
"""A told answer may come late in a play of odd actions."""


class Seal:
    """Looks for answers in texts: where a text says one, and where one stands at a fixed place."""

    def __init__(
        self,
        table: Table,
        instances: Sequence[Instance],
        plays: Sequence[Trace],
        more_seeds: Sequence[int],
        max_turns: int,
    ) -> None:
        self.table, self.instances, self.plays = table, instances, plays
        self.more_seeds, self.max_turns = more_seeds, max_turns
        self.reference = {trace.seed: trace.reward for trace in plays}

    async def check(self, lost: Sequence[Trace], probed: Sequence[tuple[Marks, Trace]]) -> Check:
        """Scan plays without any right action, those with mistakes in between, and fixed places."""
        check = await self._said(lost, ())
        seeds = [one.seed for one in self.instances]
        for some in (seeds[:PROBED], seeds[PROBED:]):
            group = [probe for probe in probed if probe[1].seed in some]
            if check.verdict == "pass" and group:
                check = await self._said((), group)
        if check.verdict == "pass" and self.table.jail.info.setting == "game":
            check = await self._read_off() or check
        return check

    async def _said(self, lost: Sequence[Trace], probed: Sequence[tuple[Marks, Trace]]) -> Check:
        info = self.table.jail.info
        tools = info.setting == "tool_use"
        found = suspects(self.instances, lost, probed, tools, self.plays if lost else ())
        tried = await self.table.play(
            [
                Game(one.seed, script((*one.before, *replies(info, one.rest))), ODD_TURNS)
                for one in found
            ]
        )
        proved = {
            one.seed: one
            for one, trace in zip(found, tried, strict=True)
            if checks.won(trace, self.reference, 1.0)
        }
        scanned = len({trace.seed for trace in lost} | {t.seed for _, t in probed})
        return checks.sealed(list(proved.values()), scanned)

    async def _read_off(self) -> Check | None:
        """Let readers play these seeds, and one that wins nearly all of them others too."""
        usual = min(self.reference.values(), default=1.0)
        info = self.table.jail.info
        for reader in readers(self.plays):
            wins: list[Trace] = []
            count = 0
            known = {one.seed: replies(info, one.solution or ()) for one in self.instances}
            for more in (False, True):
                if more:
                    others, _ = await self.table.instances(self.more_seeds, reader.lead > 0)
                    known = {one.seed: replies(info, one.solution or ()) for one in others}
                games = [
                    Game(seed, lambda p=play, r=reader: r.player(p), self.max_turns)  # type: ignore[misc]
                    for seed, play in known.items()
                    if len(play) >= reader.lead
                ]
                count += len(games)
                wins += [
                    trace
                    for trace in await self.table.play(games)
                    if checks.won(trace, self.reference, usual)
                ]
                check = checks.read_off(reader.rule, wins, count)
                if check is None:
                    break
            if check is not None:
                return check
        return None


def probes(info: JailInfo, instances: Sequence[Instance], cap: int) -> list[tuple[Marks, Game]]:
    """Return plays of the solution with a mistake at the start and, in a longer one, midway.

    A call whose arguments are all off often meets another error than one with a single slip.
    """
    found = []
    slips = any(len(tool["function"]["parameters"]["properties"]) > 1 for tool in info.tools)
    some = instances if slips else instances[:PROBED]
    for place, one in enumerate(some):
        actions = replies(info, one.solution or ())
        play: list[str] = []
        marks: list[tuple[int, int]] = []
        for done, action in enumerate(actions):
            if done in (0, len(actions) // 2):
                others = [
                    boxed(other.solution[done])
                    for other in some
                    if other.seed != one.seed and other.solution and len(other.solution) > done
                ]
                play.append(wrong_for(action, others, place >= PROBED))
                marks.append((len(play), done))
            play.append(action)
        if play:
            found.append((tuple(marks), Game(one.seed, script(play), cap + len(marks))))
    return found


def replies(info: JailInfo, actions: Sequence[str]) -> list[str]:
    """Return a solution's actions as a policy would reply them: a game's in a box."""
    if info.setting == "tool_use":
        return list(actions)
    return [game_action(boxed(action)) for action in actions]
