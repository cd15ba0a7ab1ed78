"""Language understanding: untangle who is whose aunt, husband or mother in a large family."""

import random

WOMEN = ("Ada", "Bea", "Cora", "Dora", "Edda", "Fay", "Gerda", "Hanna", "Ida", "Juno")
MEN = ("Kurt", "Leo", "Max", "Nils", "Otto", "Paul", "Quin", "Rolf", "Sven", "Tom")


class FamilyPartyEnv:
    """Answer three riddles about who is who at a family party."""

    def __init__(self, max_turns: int = 4, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Marry and christen a family of three generations, then make up riddles about it."""
        rng = random.Random(seed)
        self.women, self.men = rng.sample(WOMEN, 10), rng.sample(MEN, 10)
        self.parents: dict[str, tuple[str, str]] = {}  # child: (mother, father)
        couples = [(self.women.pop(), self.men.pop())]
        tales = [f"{couples[0][0]} and {couples[0][1]} have been married for fifty years."]
        for generation in (1, 2):
            for mother, father in list(couples if generation == 1 else couples[1:]):
                girl, boy = self.women.pop(), self.men.pop()
                self.parents[girl] = self.parents[boy] = (mother, father)
                tales.append(self.christening(rng, mother, father, girl, boy))
                if generation == 1:
                    couples += [(girl, self.men.pop()), (self.women.pop(), boy)]
                    tales.append(f"{girl} took {couples[1][1]} for her husband.")
                    tales.append(f"{boy} has {couples[2][0]} for a wife.")
        self.couples = couples
        rng.shuffle(tales)
        riddles: dict[str, str] = {}
        while len(riddles) < 3:
            riddle, answer = self.riddle(rng)
            if answer and answer not in riddles.values():
                riddles[riddle] = answer
        self.riddles = list(riddles.items())
        self.asked, self.turns_left = 0, self.max_turns
        rules = "Three riddles follow; answer each with one name. One mistake is forgiven."
        return f"{' '.join(tales)}\n{rules}\n\n{self.riddles[0][0]}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Judge one name."""
        name = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        self.turns_left -= 1
        right = name == self.riddles[self.asked][1].lower()
        self.asked += right
        if self.asked == 3:
            return "You know the family by heart.", 1.0, True, False, {}
        if self.turns_left < 3 - self.asked:
            return "The party is over.", 0.0, True, False, {}
        verdict = "Yes." if right else "No."
        return f"{verdict} {self.riddles[self.asked][0]}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the three names."""
        return [answer for _, answer in self.riddles]

    def christening(self, rng: random.Random, mother: str, father: str, girl: str, boy: str) -> str:
        """Tell of two children in one of several ways."""
        return rng.choice(
            [
                f"{girl} is {mother}'s daughter, and {boy} is {girl}'s brother.",
                f"{father} is the father of {boy}, whose only sister is {girl}.",
                f"{mother} has a son, {boy}, and a daughter, {girl}.",
            ]
        )

    def riddle(self, rng: random.Random) -> tuple[str, str]:
        """Walk three relations from somebody; the answer is empty when the way breaks off."""
        start = person = rng.choice(sorted(self.parents))
        words, seen = [], {start}
        for _ in range(3):
            word, person = rng.choice(sorted(self.relatives(person).items()) or [("", "")])
            words.append(word)
            if not person or person in seen:
                return "", ""
            seen.add(person)
        chain = " of the ".join(reversed(words))
        return f"Who is the {chain} of {start}?", person

    def relatives(self, person: str) -> dict[str, str]:
        """Return the relations of a person that lead to exactly one other person."""
        known: dict[str, str] = {}
        if person in self.parents:
            known["mother"], known["father"] = self.parents[person]
            other = next(c for c in self.parents if c != person and self.same_home(c, person))
            known["sister" if other in WOMEN else "brother"] = other
        for wife, husband in self.couples:
            if person in (wife, husband):
                known["husband" if person == wife else "wife"] = husband if person == wife else wife
        for child, parents in self.parents.items():
            if person in parents:
                known["daughter" if child in WOMEN else "son"] = child
        return known

    def same_home(self, one: str, two: str) -> bool:
        """Say whether two people have the same parents."""
        return self.parents[one] == self.parents[two]
