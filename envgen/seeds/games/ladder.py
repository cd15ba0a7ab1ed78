"""Language understanding: turn one word into another, one letter at a time, by way of words."""

import random
from collections import deque

DICTIONARY = (
    "bad bag ban bar bat bay bed bee beg bet bid big bin bit boa bog bow box boy bud bug bun bus "
    "but buy cab can cap car cat cob cod cog cot cow cry cub cup cut dad dam day den dew did die "
    "dig dim din dip dog dot dry dub due dug ear eat eel egg elf elk end fan far fat fed fee few "
    "fig fin fit fix fly fog for fox fun fur gap gas get got gum gun gut hat hay hen her hid him "
    "hip hit hog hop hot how hug hut ice ink jam jar jaw jet job jog joy jug key kid kin kit lap "
    "law lay led leg let lid lie lip log lot low mad man map mat men met mix mob mop mud mug nap "
    "net new nod nut oak oar oil old one owl own pad pan pat paw pay pea peg pen pet pie pig pin "
    "pit pod pot put rag ram ran rat raw ray red rib rid rig rim rip rob rod rot row rub rug run "
    "sad sat saw say sea see set sew sip sit sky son sow sun tab tag tan tap tar tea ten tie tin "
    "tip toe ton top toy tub tug van vat vet wag war wax way web wet wig win wit won yes yet zip"
)
WORDS = DICTIONARY.split()
KNOWN = frozenset(WORDS)


class WordLadderEnv:
    """Climb from one word to another by changing a single letter at a time."""

    def __init__(self, max_turns: int = 10, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Draw two words that lie four to six rungs apart."""
        rng = random.Random(seed)
        self.rungs: list[str] = []
        while not 4 <= len(self.rungs) <= 6:
            self.word, self.goal = rng.sample(WORDS, 2)
            self.rungs = self.shortest_ladder()
        self.turns_left = min(self.max_turns, len(self.rungs) + 2)
        rules = (
            "Change one letter at a time; every rung must be a common English word of three "
            "letters. Reply with the next word."
        )
        return f"{rules}\nFrom {self.word} to {self.goal}. Turns left: {self.turns_left}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Climb to a word; one that is no rung costs the turn."""
        word = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        self.turns_left -= 1
        note = self.objection(word)
        if not note:
            self.word = word
        if self.word == self.goal:
            return "You stand on top.", 1.0, True, False, {}
        if self.turns_left == 0:
            return "The ladder has to go back.", 0.0, True, False, {}
        where = f"You stand on {self.word}. To {self.goal}. Turns left: {self.turns_left}"
        return f"{note}{where}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the rungs of a shortest ladder."""
        return self.rungs

    def objection(self, word: str) -> str:
        """Return why a word is no rung from here, or nothing."""
        if word in self.rungs_from(self.word):
            return ""
        if word in KNOWN:
            return "Exactly one letter must change. "
        return "That word is not in this dictionary. "

    def shortest_ladder(self) -> list[str]:
        """Return the fewest rungs to the goal, the goal among them, or none."""
        ladders: dict[str, list[str]] = {self.word: []}
        queue = deque(ladders)
        while queue:
            word = queue.popleft()
            if word == self.goal:
                return ladders[word]
            for rung in self.rungs_from(word):
                if rung not in ladders:
                    ladders[rung] = [*ladders[word], rung]
                    queue.append(rung)
        return []

    def rungs_from(self, word: str) -> list[str]:
        """Return the words that differ from ``word`` in one letter."""
        letters = "abcdefghijklmnopqrstuvwxyz"
        changed = [word[:n] + new + word[n + 1 :] for n in range(3) for new in letters]
        return [rung for rung in changed if rung in KNOWN and rung != word]
