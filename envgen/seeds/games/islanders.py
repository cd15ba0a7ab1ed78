"""Logical deduction: some islanders always lie, the others never do; two questions are free."""

import random
from itertools import combinations, product

NAMES = ("Ana", "Bo", "Cy", "Di", "Ed")

Kinds = dict[str, bool]  # name: whether that islander tells the truth


class IslandersEnv:
    """Name the liars of an island from what its people say."""

    def __init__(self, max_turns: int = 3, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Draw people and statements until two questions are needed, and are enough."""
        rng = random.Random(seed)
        everybody = [
            dict(zip(NAMES, kinds, strict=True)) for kinds in product([True, False], repeat=5)
        ]
        open_cases: list[Kinds] = []
        while len(open_cases) < 3 or not self.settled(open_cases, questions=2):
            self.kinds = rng.choice(everybody[1:])
            facts = [(speaker, *self.fact(rng, speaker)) for speaker in NAMES]
            said = [(speaker, kind, who, self.holds(self.kinds, kind, who) == self.kinds[speaker])
                    for speaker, kind, who in facts]  # fmt: skip
            open_cases = [
                case
                for case in everybody[1:]
                if all((self.holds(case, k, w) == case[s]) == true for s, k, w, true in said)
            ]
        lines = [f"{s}: {self.sentence(k, w, true)}" for s, k, w, true in said]
        self.turns_left = self.max_turns
        rules = (
            "On this island everybody either always lies or never does; at least one lies.\n"
            + "\n".join(lines)
            + "\nBefore you answer you may put two questions, each to one islander about another: "
            "ask Ana Bo means, Ana, does Bo lie?\n"
            "To answer name every liar, say, liars Ana Bo. One answer only."
        )
        return f"{rules}\nTurns left, the answer included: {self.turns_left}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Let an islander answer, or take the player's answer."""
        words = action.removeprefix("\\boxed{").removesuffix("}").title().split()
        self.turns_left -= 1
        if words[:1] == ["Liars"]:
            won = sorted(words[1:]) == self.liars()
            verdict = "So it is." if won else "So it is not."
            return verdict, float(won), True, False, {}
        if self.turns_left == 0:
            return "Your boat leaves.", 0.0, True, False, {}
        if len(words) == 3 and words[0] == "Ask" and set(words[1:]) <= set(NAMES):
            lies = not self.kinds[words[2]]
            note = f"{words[1]}: {'Yes' if lies == self.kinds[words[1]] else 'No'}."
        else:
            note = "Write ask and two names, or liars and their names."
        return f"{note}\nTurns left: {self.turns_left}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the right answer; a player has to earn it with questions and thought."""
        return ["liars " + " ".join(self.liars())]

    def liars(self) -> list[str]:
        """Return the liars in order of the alphabet."""
        return sorted(name for name, honest in self.kinds.items() if not honest)

    def settled(self, cases: list[Kinds], questions: int) -> bool:
        """Say whether so many questions, well chosen, tell the cases apart.

        Whoever is asked, the answer only tells whether the two people are of the same kind.
        """
        if len(cases) < 2 or not questions:
            return len(cases) < 2
        return any(
            all(
                self.settled([c for c in cases if (c[one] == c[two]) == same], questions - 1)
                for same in (True, False)
            )
            for one, two in combinations(NAMES, 2)
        )

    def fact(self, rng: random.Random, speaker: str) -> tuple[str, tuple[str, ...]]:
        """Choose what a speaker talks about."""
        others = [name for name in NAMES if name != speaker]
        kind = rng.choice(["lies", "same", "either"])
        return kind, tuple(sorted(rng.sample(others, 1 if kind == "lies" else 2)))

    def holds(self, kinds: Kinds, kind: str, who: tuple[str, ...]) -> bool:
        """Say whether a fact holds when people are of these kinds."""
        honest = [kinds[name] for name in who]
        if kind == "lies":
            return not honest[0]
        return len(set(honest)) == 1 if kind == "same" else not all(honest)

    def sentence(self, kind: str, who: tuple[str, ...], true: bool) -> str:
        """Write a fact, or its opposite, as somebody says it."""
        if kind == "lies":
            return f"{who[0]} lies." if true else f"{who[0]} never lies."
        pair = " and ".join(who)
        if kind == "same":
            return f"{pair} are {'of the same kind' if true else 'of different kinds'}."
        return f"At least one of {pair} lies." if true else f"Neither of {pair} lies."
