"""The verdicts: pure functions from traces to checks, one for each gate after loading."""

from collections.abc import Mapping, Sequence
from typing import Any

from envgen.certificate.leaks import Suspect
from envgen.certificate.odds import GUESSABLE, SHARE, too_many
from envgen.certificate.players import DEEDS
from envgen.certificate.plays import Instance, Trace, said
from envgen.certificate.reading import Rule
from envgen.certificate.record import Check
from envgen.certificate.search import QUICK
from sandbox import EnvironmentFault, JailInfo, Observation

SOLVED = 0.5
NEAR = 0.9
BORROWED = 0.6
"""A plan that wins elsewhere may win here as well; a share this large means that hardly anything
else is looked at."""
ENOUGH_SEEDS = 3
SHOWN = 120
MENDS = {
    "halving": f" within {QUICK} turns; make the range much larger, or let the number follow from "
    "something",
    "borrowed": "; what is right must follow from what this seed shows",
}
MANY_PLAYS = 20
"""From so many plays on a share is close enough to the true one."""
READABLE = 0.8
"""A rule of reading that wins so large a share of plays is a leak."""


def contract(
    instances: Sequence[Instance], traces: Sequence[Trace], info: JailInfo | None = None
) -> Check:
    """Fail on any fault of ``reset`` or ``step``, whatever action it was that brought it out.

    A tool-use environment without a tool fails too, where ``info`` is given.
    """
    for one in instances:
        if one.fault is not None and one.fault.stage != "solution":
            return _faulted(one.fault, one.seed, "")
    for trace in traces:
        if trace.fault is not None:
            return _faulted(trace.fault, trace.seed, trace.last_action)
    if info is not None and info.setting == "tool_use" and not info.tools:
        message = (
            "there are no tools; a tool is a method whose name begins with tool_, as in "
            "def tool_find_parcel(self, name: str) -> str"
        )
        return Check("contract", "fail", message, {"tools": 0})
    turns = sum(len(trace.turns) for trace in traces)
    return Check(
        "contract",
        "pass",
        f"{turns} actions on {len(traces)} plays, odd ones too, were answered as they should be",
        {"plays": len(traces), "actions": turns},
    )


def deterministic(
    firsts: Mapping[int, Sequence[Observation]], pairs: Sequence[tuple[Trace, Trace]]
) -> Check:
    """Fail when a seed has two first observations, or a play and its replay elsewhere differ.

    ``pairs`` are plays of the same seed and actions in two fresh jails with other hash seeds,
    another clock and another order of episodes.
    """
    for seed, seen in firsts.items():
        other = next((one for one in seen if one != seen[0]), None)
        if other is not None:
            return _differs(seed, said(seen[0]), said(other), "first observation")
    for one, two in pairs:
        left, right = _transcript(one), _transcript(two)
        for place, (a, b) in enumerate(zip(left, right, strict=False)):
            if a != b:
                return _differs(one.seed, str(a), str(b), f"answer to action {place}")
        if len(left) != len(right):
            return _differs(one.seed, f"{len(left)} turns", f"{len(right)} turns", "length")
    return Check(
        "deterministic",
        "pass",
        f"{len(pairs)} plays gave the same transcript in fresh jails",
        {"replays": len(pairs)},
    )


def seeded(
    instances: Sequence[Instance],
    asked: Sequence[Sequence[Trace]],
    plays: Sequence[Trace],
    setting: str,
) -> Check:
    """Fail when all seeds give one instance: same observation, solution and answers to ``asked``.

    ``asked`` are groups of plays, each by one player whose actions do not depend on the seed.

    A game fails too when its seeds only look different, because one and the same play wins all of
    them; a reference that is the same but does not win is for ``solvable`` to judge. The calls of a
    tool-use solution may well be the same while the data differ.
    """
    kinds = {(one.first, one.solution) for one in instances}
    answers = [{str(_transcript(trace)) for trace in group} for group in asked]
    distinct = max(len(kinds), *map(len, answers))
    evidence = {"seeds": len(instances), "distinct": distinct}
    solutions = {one.solution for one in instances}
    fixed = setting == "game" and len(solutions) == 1 and all(solutions)
    fixed = fixed and all(trace.reward > SOLVED for trace in plays)
    if distinct > 1 and fixed and len(instances) > ENOUGH_SEEDS:
        message = (
            f"one and the same play is the solution of all {len(instances)} seeds; let the right "
            "actions follow from what reset() draws from random.Random(seed)"
        )
        return Check("seeded", "fail", message, evidence)
    if distinct > 1:
        message = f"{distinct} different instances from {len(instances)} seeds"
        return Check("seeded", "pass", message, evidence)
    message = (
        f"all {len(instances)} seeds give the same task; draw the instance in reset() "
        "from random.Random(seed)"
    )
    return Check("seeded", "fail", message, evidence)


def solvable(
    instances: Sequence[Instance],
    plays: Sequence[Trace],
    plain: Trace | None,
    max_turns: int,
    on_reply: bool = False,
) -> Check:
    """Fail unless ``solution()``, played through the policy's door, wins on every seed.

    A win of the reference is a return above ``SOLVED``, so that costs of turns and partial pay are
    judged fairly. For the message: ``plain`` is a lost play once more with its actions not boxed, and
    ``on_reply`` says that instructions wait for a reply in words.
    """
    for one in instances:
        if one.fault is not None:
            message = f"solution() fails on seed {one.seed}: {one.fault.reason}: {one.fault.detail}"
            return Check("solvable", "fail", message, {"seed": one.seed})
    if all(one.solution is None for one in instances):
        message = "not proven winnable: no solution(); a win of any later play will settle it"
        return Check("solvable", "unknown", message)
    for one, trace in zip(instances, plays, strict=True):
        actions = one.solution or ()
        evidence: dict[str, Any] = {
            "seed": one.seed,
            "return": trace.reward,
            "turns": len(trace.turns),
        }
        if not actions:
            message = (
                f"solution() is empty on seed {one.seed}; return the actions of a winning play"
            )
            return Check("solvable", "fail", message, evidence)
        if len(actions) > max_turns and not trace.ended:
            message = f"solution() takes {len(actions)} turns; a policy has at most {max_turns}"
            return Check("solvable", "fail", message, evidence)
        if trace.reward <= SOLVED:
            evidence["actions"] = [action[:SHOWN] for action in actions[:25]]
            return Check("solvable", "fail", _lost(one, trace, plain, on_reply), evidence)
    return Check(
        "solvable",
        "pass",
        f"solution() wins on {len(plays)} of {len(plays)} seeds",
        {
            "returns": [trace.reward for trace in plays],
            "turns": [len(trace.turns) for trace in plays],
        },
    )


def nontrivial(
    wins: Mapping[str, tuple[int, int]],
    setting: str,
    different: int = 0,
    guessable: float = GUESSABLE,
) -> Check:
    """Fail when a player without skill wins too often; ``wins`` maps a player to (wins, plays).

    The rule is ``odds.too_many``: more wins than a true share of 5 % would give once in 100 times.
    Where a play is a single answer, "answers" counts pairs of seeds with the same one (``odds.
    alike``), of which a share of ``guessable`` is allowed, and ``different`` how many answers there
    are. The player who borrows whole solutions needs ``BORROWED``, because plans may well lead to
    the same end. For the player who halves a range it is another one, because where a number has to
    be searched, halving is the skill. Of this player only wins within ``search.QUICK`` turns are
    counted, and it refuses when they are more than half of the plays: then there are hardly more
    numbers than tries, and there was nothing to search.
    """
    evidence = {name: {"wins": won, "plays": plays} for name, (won, plays) in wins.items()}
    name = skilless_winner(wins, guessable)
    if name:
        deed, (won, plays) = DEEDS[setting][name], wins[name]
        mend = MENDS.get(
            name, "; at most 5 % are allowed, luck of one in 100 apart; make it need skill"
        )
        message = f"a player that {deed} wins {won} of {plays} plays{mend}"
        if name == "answers":
            evidence[name]["different"] = different
            message = (
                f"there are too few possible answers: {different} different ones were found, and "
                f"a player that {deed} is right in {won / plays:.0%} of all pairs of seeds; at "
                f"most {guessable:.0%} are allowed; ask for one of 20, each as often as the others"
            )
        return Check("nontrivial", "fail", message, evidence)
    message = "no player without skill wins more than luck allows: " + ", ".join(
        f"{name} {won}/{plays}" for name, (won, plays) in wins.items()
    )
    return Check("nontrivial", "pass", message, evidence)


def skilless_winner(wins: Mapping[str, tuple[int, int]], guessable: float = GUESSABLE) -> str:
    """Return the first player without skill that wins too often, or nothing."""
    for name, (won, plays) in wins.items():
        if name == "halving":
            often = 2 * won > plays
        elif name == "borrowed":
            often = plays >= MANY_PLAYS and won >= BORROWED * plays
        else:
            often = too_many(won, plays, guessable if name == "answers" else SHARE)
        if often:
            return name
    return ""


def left_to_sealed(nontrivial: Check, winner: str, sealed: Check) -> Check:
    """Leave it to ``sealed`` when players only win because a text gives the answer away.

    Whoever repeats a text, or says what it quotes, then needs no other flaw to win.
    """
    told = "rule" not in sealed.evidence
    if sealed.verdict == "fail" and (winner == "echo" or (told and winner in ("first", "random"))):
        message = "not judged: a text gives the answer away, which any reader could repeat"
        return Check("nontrivial", "unknown", message, nontrivial.evidence)
    return nontrivial


def sealed(confirmed: Sequence[Suspect], scanned: int) -> Check:
    """Fail when texts give the answer away: on three seeds and on half of those scanned.

    ``confirmed`` are suspicions (see ``leaks``) whose told action won from that very state.
    """
    evidence: dict[str, Any] = {"leaks": len(confirmed), "scanned": scanned}
    if len(confirmed) < max(ENOUGH_SEEDS, scanned / 2):
        return Check("sealed", "pass", "no text gives the answer away", evidence)
    leak = confirmed[0]
    evidence |= {"seed": leak.seed, "text": leak.text[:SHOWN]}
    message = (
        f"the answer ({leak.answer[:40]!r} on seed {leak.seed}) stands in a text before it is "
        "earned, and wins when it is played then; "
        + ("say only that an action was wrong" if leak.before else "take it out of the text")
    )
    return Check("sealed", "fail", message, evidence)


def read_off(rule: Rule, wins: Sequence[Trace], plays: int) -> Check | None:
    """Fail when one rule of reading, without any skill, wins ``READABLE`` of all plays."""
    if not wins or len(wins) < READABLE * plays:
        return None
    told = said(wins[0].first)
    evidence = {"rule": str(rule), "wins": len(wins), "plays": plays, "text": told[-SHOWN:]}
    message = (
        f"the answer stands at one fixed place of the text: a player that always says the {rule} "
        f"wins {len(wins)} of {plays} plays; take the answer out of the text"
    )
    return Check("sealed", "fail", message, evidence)


def bounded(
    idle: Sequence[Trace], every: Sequence[Trace], limit: int, declared: int | None
) -> Check:
    """Fail when a player who does nothing is still playing after ``limit`` turns.

    The host caps turns anyway; this finds the play that an empty reply keeps open for ever.
    ``declared`` is the environment's own ``max_turns``; beyond ``limit`` it is not tried out.
    Recorded: seconds of wall time of the middle and the slowest step of ``every`` play, on a
    machine that plays several at once; and the highest resident memory of an episode's process, as
    the host's kernel counts it (the interpreter takes some 8 MB of it), ``None`` where the host
    hides it.
    """
    steps = sorted(turn.seconds for trace in every for turn in trace.turns)
    evidence = {
        "limit": limit,
        "longest": max((len(trace.turns) for trace in idle), default=0),
        "steps": len(steps),
        "median_step_s": round(steps[len(steps) // 2], 6) if steps else 0.0,
        "slowest_step_s": round(steps[-1], 6) if steps else 0.0,
        "peak_memory_bytes": max((trace.memory for trace in every), default=0) or None,
    }
    for trace in idle:
        if not trace.ended and declared is not None and declared > limit:
            message = f"it says max_turns = {declared}; only {limit} idle turns were played"
            return Check("bounded", "unknown", message, evidence)
        if not trace.ended:
            message = (
                f"doing nothing for {limit} turns does not end it; count every action, "
                "empty ones too, and end with terminated or truncated"
            )
            return Check("bounded", "fail", message, evidence)
    return Check(
        "bounded", "pass", f"ends after at most {evidence['longest']} idle turns", evidence
    )


def won(trace: Trace, reference: Mapping[int, float], usual: float) -> bool:
    """Say whether a play earns at least 0.9 of what the reference earns on its seed."""
    return trace.reward > 0 and trace.reward >= NEAR * reference.get(trace.seed, usual)


def _faulted(fault: EnvironmentFault, seed: int, action: str) -> Check:
    where = "reset()" if fault.stage in ("reset", "load") else f"step({action[:40]!r})"
    message = f"{where} on seed {seed}: {fault.reason}: {fault.detail}"
    evidence = {
        "stage": fault.stage,
        "reason": fault.reason,
        "detail": fault.detail,
        "seed": seed,
        "action": action[:SHOWN],
    }
    return Check("contract", "fail", message, evidence)


def _differs(seed: int, one: str, two: str, what: str) -> Check:
    message = (
        f"seed {seed} twice: the {what} differs; draw only from random.Random(seed) and keep "
        "random.choice() and its kin, clocks, hash order, object ids and files out of it"
    )
    return Check("deterministic", "fail", message, {"one": one[:SHOWN], "two": two[:SHOWN]})


def _transcript(trace: Trace) -> list[Any]:
    told: list[Any] = [said(trace.first)]
    for turn in trace.turns:
        told.append((said(turn.observation), turn.reward, turn.terminated, turn.truncated))
    return told


def _lost(one: Instance, trace: Trace, plain: Trace | None, on_reply: bool) -> str:
    if plain is not None and plain.reward > SOLVED:
        return (
            f"solution() wins on seed {one.seed} only when its actions are not boxed; a policy "
            "boxes them, so unbox: action.removeprefix('\\\\boxed{').removesuffix('}')"
        )
    if not trace.ended and on_reply:
        end = (
            'the play is not over after its last action; with advance = "on_reply" each '
            "instruction is done only by a reply without calls after its calls, which is written "
            'as plain text, "Done.", or {"content": "Done.", "tool_calls": []}'
        )
    elif not trace.ended:
        end = "the play is not over after its last action"
    elif not trace.turns[-1].terminated:
        end = "the play is truncated, which counts as a loss: set terminated on a win"
    else:
        end = f"the play ends with reward {trace.turns[-1].reward:g} after {len(trace.turns)} turns"
    return f"solution() does not win on seed {one.seed}: {end}"
