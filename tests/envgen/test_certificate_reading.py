"""The player that reads an answer off a fixed place of the text."""

import random
import time
from collections.abc import Callable

import pytest

from envgen.certificate.plays import Trace, Turn
from envgen.certificate.reading import readers
from sandbox import Message, Observation

SEEDS = range(8)
WORDS = ["plum", "apple", "fig", "pear", "cherry", "grape", "lemon", "quince"]


def text(words: str) -> Observation:
    return (Message("user", words),)


def won(*turns: tuple[str, str]) -> Trace:
    """A play of (text, the action that was right after it), in order."""
    after = [*(said for said, _ in turns[1:]), "Well done."]
    steps = tuple(
        Turn(f"\\boxed{{{action}}}", text(told), float(place == len(turns)), False, False)
        for place, ((_, action), told) in enumerate(zip(turns, after, strict=True), 1)
    )
    return Trace(1, text(turns[0][0]), steps)


def sums(form: str) -> list[Trace]:
    """Plays of a sum whose text is ``form`` with a, b and their sum c."""
    pairs = [(random.Random(seed).randint(10, 99), 7 * seed + 11) for seed in SEEDS]
    return [won((form.format(a=a, b=b, c=a + b), str(a + b))) for a, b in pairs]


@pytest.mark.parametrize(
    "form",
    [
        "What is {a} + {b}? (it is {c})",
        "What is {a} + {b}?\n{c}",
        "{c}\nWhat is {a} + {b}?",
        "{a} + {b} =? Checked against {c}.",
        "Add {a} to {b}. <!-- {c} -->",
        "Add {a} and {b}\nlevel=3;key={c};mode=easy",
    ],
)
def test_an_answer_at_a_fixed_place_is_read_off(form: str) -> None:
    found = readers(sums(form))
    assert found
    for play in sums(form):
        player = found[0].player(())
        assert player([play.first]) == play.turns[0].action


@pytest.mark.parametrize("form", ["What is {a} + {b}?", "{a} and {b} make what?", "{a}{b}"])
def test_without_the_answer_nothing_can_be_read_off(form: str) -> None:
    assert readers(sums(form)) == []


def shuffled(ask: Callable[[list[int]], int]) -> list[Trace]:
    plays = []
    for seed in range(8):
        numbers = random.Random(seed).sample(range(100, 999), 9)
        listed = ", ".join(map(str, numbers))
        plays.append(won((f"Towers: {listed}. Which is it?", str(ask(numbers)))))
    return plays


def test_one_of_many_candidates_is_no_leak_unless_it_always_stands_in_one_place() -> None:
    assert readers(shuffled(max)) == []
    assert readers(shuffled(lambda numbers: sorted(numbers)[4])) == []
    assert readers(shuffled(lambda numbers: numbers[3]))


def test_answers_of_several_words_and_in_capitals_are_read_as_they_stand() -> None:
    plays = [
        won((f"Guess what I ate.\nMENU: {one.title()} with {two}\nHint: none", f"{one} with {two}"))
        for one, two in zip(WORDS, WORDS[::-1], strict=True)
    ]
    reader = readers(plays)[0].player(())
    assert reader([plays[0].first]) == "\\boxed{Plum with quince}"


def follows(play: Trace) -> bool:
    """Whether the first reader found makes this very play."""
    seen = [play.first, *(turn.observation for turn in play.turns)]
    player = readers([play] * 8)[0].player(())
    return all(player(seen[: n + 1]) == turn.action for n, turn in enumerate(play.turns))


def test_every_text_of_a_longer_play_must_tell_the_next_action() -> None:
    assert follows(won(("Door A (it is red-1)", "red-1"), ("Door B (it is blue-2)", "blue-2")))
    assert not follows(won(("Remember plum. Say go.", "go"), ("Which word was it?", "plum")))


def test_a_last_action_that_the_first_text_shows_is_tried_at_once() -> None:
    plays = [won((f"Vault. Serial no. {w}", "look"), ("A dial.", w)) for w in WORDS]
    [reader, *_] = readers(plays)
    assert (reader.lead, reader.player(())([plays[2].first])) == (0, "\\boxed{fig}")


def test_a_chain_of_told_actions_is_followed_after_the_first_right_one() -> None:
    plays = []
    for seed in SEEDS:
        rng = random.Random(seed)
        days = [str(rng.randint(10, 999)) for _ in range(5)]
        plays.append(
            won(
                ("Day 1?", days[0]),
                *((f"Day {n} (right: {d})", d) for n, d in enumerate(days[1:], 2)),
            )
        )
    [reader, *_] = readers(plays)
    assert reader.lead == 1
    known = [turn.action for turn in plays[0].turns]
    seen = [plays[0].first, *(turn.observation for turn in plays[0].turns)]
    assert [reader.player(known)(seen[: n + 1]) for n in range(5)] == known


def test_one_odd_seed_among_eight_does_not_hide_a_leak() -> None:
    plays = sums("What is {a} + {b}? (it is {c})")
    plays[0] = won(("What is 1 + 1? Think.", "2"))
    assert readers(plays)


def test_hostile_texts_are_read_quickly() -> None:
    began = time.perf_counter()
    for noise in ("7 " * 50_000, "(" * 60_000, "'a" * 40_000, "x" * 100_000, "7\n" * 50_000):
        assert len(readers([won((noise + "7", "7")) for _ in SEEDS])) <= 3
    assert time.perf_counter() - began < 5
