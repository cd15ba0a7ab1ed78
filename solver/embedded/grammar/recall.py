"""A family about memory: a list to be kept in mind, then a question about it."""

from random import Random

from solver.embedded.grammar.base import Ask, Demo, Draw, Program, Say, Turn, boxed, join
from solver.embedded.grammar.shapes import Layout, names_of, reading


def recall(draw: Draw) -> Program:
    """A list to be remembered, then a question about places in it; the hint is to make notes."""
    count = (4, 4, 5, 6, 7)[draw.level - 1]
    names = draw.words[: count + draw.pick.randint(0, 1)]
    wanted = 2 if draw.level < 5 else 3
    head = draw.one("remember", "keep in mind", f"{draw.topic} list")
    query = draw.one("say number", "which were", "name")
    by_number = draw.pick.random() < 0.5
    hint = draw.one("Number the items as you read them.", "Write the list down with numbers first.")
    if by_number:
        hint = draw.one("Write each item with its number.", "Note every pair before you go on.")
    pool = names_of(draw, names, count)
    reset = ["rng = random.Random(seed)", *pool.lines, "self.items = names"]
    if by_number:
        reset += [
            f"self.pick = rng.sample(range({count}), {wanted})",
            f"self.keys = rng.sample(range(1, 10), {count})",
            *draw.pick.choice(
                (
                    ["text = ' , '.join(f'{x} {k}' for x, k in zip(names, self.keys))"],
                    [
                        "pairs = [f'{x} {k}' for x, k in zip(names, self.keys)]",
                        "text = ' , '.join(pairs)",
                    ],
                    [
                        f"pairs = [f'{{names[i]}} {{self.keys[i]}}' for i in range({count})]",
                        "text = ' , '.join(pairs)",
                    ],
                )
            ),
        ]
        answer = draw.one(
            "' '.join(str(self.keys[i]) for i in self.pick)",
            "' '.join([str(self.keys[i]) for i in self.pick])",
        )
        question = draw.one(
            f"'{query} ' + ' '.join(self.items[i] for i in self.pick)",
            f"' '.join(['{query}', *(self.items[i] for i in self.pick)])",
        )
    else:
        reset += [
            f"self.pick = sorted(rng.sample(range({count}), {wanted}))[::-1]",
            "text = ' '.join(names)",
        ]
        answer = draw.one(
            "' '.join(self.items[i] for i in self.pick)",
            "' '.join([self.items[i] for i in self.pick])",
        )
        question = draw.one(
            f"'{query} ' + ' '.join(str(i + 1) for i in self.pick)",
            f"' '.join(['{query}', *(str(i + 1) for i in self.pick)])",
        )
    read, more = reading(draw)
    later = draw.pick.random() < 0.5
    if later:
        more = [*more, ["def answer(self):", f"    return {answer}"]]
        answer = "self.answer()"
    phase = draw.pick.randrange(3)
    if phase == 0:
        start = ["self.on = False"]
        step = [
            "if not self.on:",
            "    self.on = True",
            f"    return {question}, 0.0, False, False, {{}}",
        ]
    elif phase == 1:
        start = [f"self.asks = [{question}]"]
        step = ["if self.asks:", "    return self.asks.pop(), 0.0, False, False, {}"]
    else:
        start = ["self.turn = 0"]
        step = [
            "self.turn += 1",
            "if self.turn < 2:",
            f"    text = {question}",
            "    return text, 0.0, False, False, {}",
        ]
    reset += [*start, f"return '{head} : ' + text, {{}}"]
    step = [*step, read] if draw.pick.random() < 0.5 else [read, *step]
    step += draw.pick.choice(
        (
            [f"win = guess == {answer}", "return 'done', float(win), True, False, {}"],
            [
                f"if guess == {answer}:",
                "    return 'yes', 1.0, True, False, {}",
                "return 'no', 0.0, True, False, {}",
            ],
            [
                f"reward = 0.0 if guess != {answer} else 1.0",
                "return 'done', reward, True, False, {}",
            ],
        )
    )
    solution = draw.pick.choice(
        ([f"return ['ready', {answer}]"], [f"last = {answer}", "return ['ready', last]"])
    )
    title = draw.one("Remember the {} list.", "Recall the {} items.", "Keep the {} in mind.")
    title = title.replace("{}", draw.topic)
    source = Layout("Memory", title, reset, step, solution, pool.fields, more).source(draw)

    def play(ask: Ask) -> Demo:
        rng = Random(ask.seed)
        items = pool.draw(rng)
        keys: list[int] = []
        if by_number:
            picks = rng.sample(range(count), wanted)
            keys = rng.sample(range(1, 10), count)
            notes = " , ".join(f"{x} {k}" for x, k in zip(items, keys, strict=True))
            first = f"{head} : {notes}"
            then = f"{query} {join(items[i] for i in picks)}"
            best = join(keys[i] for i in picks)
            scratch = " , ".join(f"{items[i]} {keys[i]}" for i in picks)
        else:
            picks = sorted(rng.sample(range(count), wanted))[::-1]
            first = f"{head} : {join(items)}"
            then = f"{query} {join(i + 1 for i in picks)}"
            best = join(items[i] for i in picks)
            notes = " , ".join(f"{i + 1} {x}" for i, x in enumerate(items))
            scratch = " , ".join(f"{i + 1} {items[i]}" for i in picks)
        turns = [Turn((Say("user", first),), boxed("ready", notes if ask.careful else ""))]
        reply = best
        if not ask.careful and ask.rng.random() < 0.75:
            known = [str(k) for k in keys] if by_number else items
            reply = join(ask.rng.sample(known, wanted))
        turns.append(Turn((Say("user", then),), boxed(reply, scratch if ask.careful else "")))
        return Demo(ask.seed, tuple(turns), reply == best)

    return Program(
        "game",
        "memory_recall",
        "recall" if not by_number else "pairs",
        draw.level,
        title,
        source,
        hint,
        (),
        play,
    )
