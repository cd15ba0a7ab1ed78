"""Families about letters and sentences whose hidden rule one example shows."""

from collections.abc import Callable
from random import Random

from solver.embedded.grammar.base import Draw, Program, join
from solver.embedded.grammar.frames import Puzzle, Question, framed

Rule = Callable[[list[str]], list[str]]

_LETTERS: dict[str, tuple[str, str, Rule]] = {
    "reverse": ("x[::-1]", "Read the letters backwards.", lambda x: x[::-1]),
    "rotate": ("x[1:] + x[:1]", "The first letter goes to the end.", lambda x: x[1:] + x[:1]),
    "back": ("x[-1:] + x[:-1]", "The last letter comes to the front.", lambda x: x[-1:] + x[:-1]),
    "ends": (
        "x[-1:] + x[1:-1] + x[:1]",
        "The two ends change places.",
        lambda x: x[-1:] + x[1:-1] + x[:1],
    ),
    "twice": ("x[:1] + x", "The first letter is said twice.", lambda x: x[:1] + x),
    "tail": ("x + x[-1:]", "The last letter is said twice.", lambda x: x + x[-1:]),
    "sort": ("sorted(x)", "Put the letters in the order of the alphabet.", sorted),
    "swap": (
        "x[1::-1] + x[2:]",
        "The first two letters change places.",
        lambda x: x[1::-1] + x[2:],
    ),
}


def letters(draw: Draw) -> Program:
    """Letters changed by a hidden rule."""
    kind = draw.one(*_LETTERS)
    code, hint, rule = _LETTERS[kind]
    count = (3, 4, 4, 5, 6)[draw.level - 1]
    show = draw.pick.choice((3, 3, 4))
    pool = "abcdefghijklmnop"[: draw.pick.randint(count + show + 1, 16)]
    # No letter of the pool may begin the word that follows the letters.
    arrow = draw.one("->", "=>", "to")
    place = draw.one("", f"{draw.topic} : ")
    sort = kind == "sort"
    body = [f"w = rng.sample('{pool}', {count + show})", f"x, y = w[:{count}], w[{count}:]"]
    if sort:
        body = [
            f"w = sorted(rng.sample('{pool}', {count + show}))",
            f"x, y = w[{count - 1}::-1], w[:{count - 1}:-1]",
        ]
    if draw.pick.random() < 0.5:
        body += [f"z = {code.replace('x', 'y')}", f"x, y, z, w = map(' '.join, (x, y, z, {code}))"]
        value, text = "w", f"f'{place}{{y}} {arrow} {{z}} , {{x}} {arrow} ?'"
        fields: tuple[str, ...] = ()
    else:
        fields = ("def turn(self, x):", f"    return ' '.join({code})")
        value = "self.turn(x)"
        text = f"f'{place}{{first}} {arrow} {{self.turn(y)}} , {{shown}} {arrow} ?'"
        body += ["first, shown = ' '.join(y), ' '.join(x)"]

    def make(rng: Random) -> Question:
        w = rng.sample(pool, count + show)
        x, y = w[:count], w[count:]
        if sort:
            w = sorted(w)
            x, y = w[count - 1 :: -1], w[: count - 1 : -1]
        text = f"{place}{join(y)} {arrow} {join(rule(y))} , {join(x)} {arrow} ?"
        return Question(text, join(rule(x)), f"{kind} {join(x)}")

    title = draw.one("Speak the {} language.", "Read the {} code.", "Decode the {} letters.")
    return framed(
        draw,
        Puzzle(
            "letters",
            "language_understanding",
            "Letters",
            title.format(draw.topic),
            hint,
            tuple(body),
            text,
            value,
            make,
            fields,
            rounds=False,
        ),
    )


_SENTENCES = {
    "verb": ("The verb comes first.", "b a c"),
    "last": ("The verb comes last.", "a c b"),
    "turn": ("The one that is acted on comes first.", "c b a"),
    "object": ("The verb goes to the end and the object to the front.", "c a b"),
    "twice": ("The verb is said two times.", "a b b c"),
    "name": ("The one who acts is named two times.", "a a b c"),
    "early": ("The one who acts comes at the end.", "b c a"),
}
_VERBS = ("sees", "finds", "holds", "wants", "takes", "likes", "makes", "hears", "helps", "calls")


def phrase(draw: Draw) -> Program:
    """A made-up language's word order, shown once; the hint is a rule of its grammar."""
    kind = draw.one(*_SENTENCES)
    hint, order = _SENTENCES[kind]
    extra = draw.level > 2
    number = (4, 4, 5, 6, 6)[draw.level - 1]
    nouns = draw.words[:number]
    verbs = draw.pick.sample(_VERBS, 3)
    places = order.replace("a", "0").replace("b", "1").replace("c", "2").split()
    equals = draw.one("=", "->", "is")
    head = draw.one("say", "translate", f"speak {draw.topic} :")
    tag = draw.one("ko", "ta", "ne")
    tagged = draw.pick.random() < 0.4
    last = f" + ' {tag}'" if tagged else ""
    if tagged:
        hint = f"{hint} The sentence ends with a small word."
    fields = [f"nouns = '{' '.join(nouns)}'.split()", f"verbs = '{' '.join(verbs)}'.split()"]
    style = draw.one("index", "format")
    if style == "index":
        turned = f"' '.join(w[i] for i in ({', '.join(places)})){last}"
    else:
        names = [("a", "b", "c")[int(p)] for p in places]
        turned = "f'" + " ".join(f"{{{name}}}" for name in names) + (f" {tag}'" if tagged else "'")
    fields += ["", "def say(self, w):"]
    fields += (["    a, b, c = w"] if style == "format" else []) + [f"    return {turned}"]
    body = [
        "a, b, c, d = rng.sample(self.nouns, 4)",
        "v, u = rng.sample(self.verbs, 2)",
        "x, y = [a, v, b], [c, u, d]",
    ]
    shown, answer = "{c} {u} {d}", "self.say(y)"
    if extra:
        body.append("z = [d, v, a]")
        shown, answer = f"{shown} . {{d}} {{v}} {{a}}", "f'{self.say(y)} . {self.say(z)}'"
    text = f"f'{{a}} {{v}} {{b}} {equals} {{self.say(x)}} , {head} {shown}'"

    def say(w: list[str]) -> str:
        return join(w[int(p)] for p in places) + (f" {tag}" if tagged else "")

    def make(rng: Random) -> Question:
        a, b, c, d = rng.sample(list(nouns), 4)
        v, u = rng.sample(verbs, 2)
        after = say([c, u, d])
        source = f"{c} {u} {d}"
        if extra:
            after = f"{after} . {say([d, v, a])}"
            source = f"{source} . {d} {v} {a}"
        text = f"{a} {v} {b} {equals} {say([a, v, b])} , {head} {source}"
        return Question(text, after, f"{kind} {source}")

    title = draw.one("Order the {} words.", "Say it in {} speech.", "Learn the {} grammar.")
    return framed(
        draw,
        Puzzle(
            "phrase",
            "language_understanding",
            "Phrase",
            title.format(draw.topic),
            hint,
            tuple(body),
            text,
            answer,
            make,
            tuple(fields),
            rounds=False,
        ),
    )
