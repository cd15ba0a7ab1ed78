"""Variants of a known environment are refused, look-alikes that are other tasks are kept."""

import ast
import json
import textwrap

import numpy as np
import pytest

from memory.diversity import (
    Decision,
    DiversityFilter,
    Known,
    Measured,
    Thresholds,
    jaccard,
    judge,
    shingles,
    sketch,
    tree_digest,
)

LOCKS = textwrap.dedent(
    '''
    """Canal locks."""
    import random

    class CanalLocksEnv:
        """Walk the barge through the locks."""

        LOCKS = 4

        def __init__(self, max_turns=12):
            self.max_turns = max_turns
            self.levels = []

        def reset(self, seed=None):
            rng = random.Random(seed)
            self.levels = [rng.randint(1, 5) for _ in range(self.LOCKS)]
            self.at = 0
            self.turn = 0
            return self._view(), {}

        def _view(self):
            return f"Lock {self.at + 1} of {self.LOCKS}, water at {self.levels[self.at]}."

        def step(self, action):
            self.turn += 1
            move = action.removeprefix("\\\\boxed{").removesuffix("}")
            if move == "fill":
                self.levels[self.at] = min(5, self.levels[self.at] + 1)
            elif move == "drain":
                self.levels[self.at] = max(0, self.levels[self.at] - 1)
            elif move == "pass" and self.levels[self.at] == 3:
                self.at += 1
            won = self.at == self.LOCKS
            return self._view() if not won else "Through.", float(won), won, False, {}

        def solution(self):
            moves = []
            for level in self.levels:
                moves += ["drain"] * max(0, level - 3) + ["fill"] * max(0, 3 - level) + ["pass"]
            return moves
    '''
)

# The same frame, another task: what the state is and how it moves differ.
SCALES = textwrap.dedent(
    '''
    import random

    class ScalesEnv:
        """Find the false coin with a balance."""

        def __init__(self, max_turns=12):
            self.max_turns = max_turns

        def reset(self, seed=None):
            rng = random.Random(seed)
            self.coins = ["fair"] * 9
            self.false = rng.randrange(9)
            self.turn = 0
            return "Nine coins, one is light. Weigh with: left | right. Name it with: it N.", {}

        def step(self, action):
            self.turn += 1
            words = action.removeprefix("\\\\boxed{").removesuffix("}").split()
            if words[:1] == ["it"]:
                won = words[1:] == [str(self.false)]
                return ("Yes." if won else "No."), float(won), True, False, {}
            left, _, right = " ".join(words).partition("|")
            sides = [self.false in map(int, side.split()) for side in (left, right)]
            tilt = "left" if sides[0] else "right" if sides[1] else "neither"
            return f"{tilt} side is lighter", 0.0, False, False, {}

        def solution(self):
            return [f"it {self.false}"]
    '''
)
# The same three moves in the same frame, another rule.
QUEUE = textwrap.dedent(
    '''
    import random

    class MarketQueueEnv:
        """Serve the queue before anybody leaves."""

        PLACES = 4

        def __init__(self, max_turns=12):
            self.max_turns = max_turns
            self.people = []

        def reset(self, seed=None):
            rng = random.Random(seed)
            self.people = [rng.randint(2, 6) for _ in range(self.PLACES)]
            self.turn = 0
            return self._view(), {}

        def _view(self):
            return "Patience: " + ", ".join(map(str, self.people))

        def step(self, action):
            self.turn += 1
            move = action.removeprefix("\\\\boxed{").removesuffix("}")
            if move == "serve" and self.people:
                self.people.pop(0)
            elif move == "swap":
                self.people.sort()
            self.people = [patience - 1 for patience in self.people]
            lost = any(patience < 0 for patience in self.people)
            done = lost or not self.people
            return self._view(), float(done and not lost), done, False, {}

        def solution(self):
            return ["swap"] + ["serve"] * len(self.people)
    '''
)


class _Rename(ast.NodeTransformer):
    NAMES = {
        "levels": "water",
        "at": "where",
        "_view": "_describe",
        "rng": "chance",
        "move": "words",
        "moves": "plan",
        "won": "done",
        "LOCKS": "GATES",
        "CanalLocksEnv": "HarbourEnv",
        "level": "height",
        "turn": "clock",
    }

    def visit(self, node):
        for field in ("id", "attr", "name", "arg"):
            name = getattr(node, field, None)
            if isinstance(name, str) and name in self.NAMES:
                setattr(node, field, self.NAMES[name])
        return super().visit(node)


def _renamed(source):
    return ast.unparse(_Rename().visit(ast.parse(source)))


def _constants(source):
    for old, new in (("= 4", "= 7"), ("(1, 5)", "(2, 9)"), ("== 3", "== 4"), ("fill", "raise")):
        source = source.replace(old, new)
    return source.replace('"Through."', '"You are out at sea now."')


def _reordered(source):
    tree = ast.parse(source)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            node.body = node.body[:2] + node.body[2:][::-1]
    return ast.unparse(tree)


def _commented(source):
    lines = source.split("\n")
    return "\n".join(f"{line}  # note" if line.endswith(":") else line for line in lines)


def _dead_code(source):
    return source + "\n    def unused(self, x):\n        return [y * 2 for y in x if y]\n"


VARIANTS = {
    "renamed": _renamed,
    "reformatted": lambda source: ast.unparse(ast.parse(source)),
    "constants": _constants,
    "reordered": _reordered,
    "commented": _commented,
    "dead code": _dead_code,
    "all": lambda source: _reordered(_dead_code(_renamed(_constants(source)))),
}


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("source", [LOCKS, SCALES], ids=["locks", "scales"])
def test_a_variant_is_refused_with_its_neighbour(name, source):
    known = DiversityFilter([Known("locks", LOCKS), Known("scales", SCALES)])
    variant = VARIANTS[name](source)
    decision = known.decide("new", variant)
    assert not decision.accepted
    assert decision.stage in ("tree", "shingles")
    assert decision.nearest == ("locks" if source is LOCKS else "scales")
    assert decision.similarity >= 0.70
    assert decision.nearest in decision.explanation


@pytest.mark.parametrize("name", ["renamed", "reformatted", "constants", "reordered", "commented"])
def test_names_layout_constants_and_order_leave_the_tree_digest_alone(name):
    assert tree_digest(VARIANTS[name](LOCKS)) == tree_digest(LOCKS)


def test_look_alikes_are_kept():
    known = DiversityFilter([Known("locks", LOCKS)])
    for source in (SCALES, QUEUE):
        decision = known.decide("new", source)
        assert decision.accepted, decision.explanation
    assert jaccard(shingles(LOCKS), shingles(QUEUE)) > 0.3  # it does look alike


def test_what_was_added_is_known_at_once():
    known = DiversityFilter()
    assert known.decide("a", LOCKS).accepted
    known.add("a", LOCKS)
    assert known.decide("a", LOCKS).stage == "same"
    assert known.decide("b", LOCKS).stage == "tree"
    assert len(known) == 1


def test_equal_behaviour_is_refused_only_when_it_is_known():
    known = DiversityFilter([Known("locks", LOCKS, fingerprint="f00d")])
    assert known.decide("new", SCALES, "f00d").stage == "behaviour"
    assert known.decide("new", SCALES, "beef").accepted
    assert known.decide("new", SCALES, "").accepted


def test_meaning_ranks_and_refuses_only_above_the_bar():
    known = DiversityFilter()
    known.add("locks", LOCKS, embedding=[1.0, 0.0])
    near = known.decide("new", SCALES, embedding=[0.9, (1 - 0.81) ** 0.5])
    assert near.accepted
    assert near.novelty == pytest.approx(0.1)
    assert near.nearest_meaning == "locks"
    assert known.decide("new", SCALES, embedding=[1.0, 0.0]).stage == "meaning"
    assert known.decide("new", SCALES).novelty is None


def test_stored_sketches_decide_like_sources():
    digest, signature = sketch(LOCKS)
    known = DiversityFilter([Known("locks", "", digest, "", signature)], source_of=lambda _: LOCKS)
    assert known.decide("new", _renamed(LOCKS)).stage == "tree"
    assert known.decide("new", _dead_code(LOCKS)).stage == "shingles"
    assert known.decide("new", SCALES).accepted


def test_more_than_the_first_thousand_are_found():
    _, signature = sketch(SCALES)
    others = [Known(f"other{i}", SCALES, f"digest{i}", "", signature) for i in range(1500)]
    known = DiversityFilter([*others, Known("locks", LOCKS)])
    assert known.decide("new", _dead_code(LOCKS)).nearest == "locks"


@pytest.mark.parametrize("source", ["class :", "x = '\x00'", "(" * 5000, "-" * 100_000 + "1"])
def test_what_is_not_python_is_a_value_error(source):
    with pytest.raises(ValueError, match="not readable as Python"):
        DiversityFilter().decide("new", source)


def test_an_unreadable_known_source_does_not_disturb_others():
    known = DiversityFilter([Known("broken", "class :"), Known("locks", LOCKS)])
    assert known.decide("new", LOCKS).nearest == "locks"
    assert known.decide("new", "").accepted


@pytest.mark.parametrize(
    ("measured", "stage"),
    [
        (Measured("", "", "", 0.0, "", "", None), ""),
        (Measured("", "", "a", 0.69, "", "", None), ""),
        (Measured("", "", "a", 0.70, "", "", None), "shingles"),
        (Measured("", "", "a", 0.89, "", "", None, function=0.34), ""),
        (Measured("", "", "a", 0.89, "", "", None, function=0.35), "shingles"),
        (Measured("", "", "a", 0.90, "", "", None, function=0.0), "shingles"),
        (Measured("", "b", "a", 0.99, "c", "d", 1.0), "tree"),
        (Measured("x", "b", "a", 0.99, "c", "d", 1.0), "same"),
        (Measured("", "", "a", 0.2, "c", "d", 1.0), "behaviour"),
        (Measured("", "", "a", 0.2, "", "d", 0.979), ""),
        (Measured("", "", "a", 0.2, "", "d", 0.98), "meaning"),
        (Measured("", "", "", 0.0, "", "", float("nan")), ""),
    ],
)
def test_the_first_stage_that_refuses_is_named(measured, stage):
    decision = judge(measured, Thresholds())
    assert decision.stage == stage
    assert decision.accepted == (not stage)


@pytest.mark.parametrize(
    ("measured", "stage"),
    [
        (Measured("", "b", "a", 0.99, "", "", None), ""),
        (Measured("x", "b", "a", 0.99, "c", "", None), "same"),
        (Measured("", "b", "a", 0.99, "c", "", None), "behaviour"),
        (Measured("", "", "", 0.0, "", "d", 1.0), ""),
    ],
)
def test_kept_variants_are_refused_only_when_they_behave_alike(measured, stage):
    assert judge(measured, Thresholds(keep_variants=True)).stage == stage


@pytest.mark.parametrize(
    ("measured", "told"),
    [
        (Measured("", "b", "a", 0.99, "", "", None), "a variant of a, kept because it behaves"),
        (Measured("", "", "a", 0.75, "", "", None, function=0.4), "a variant of a, kept"),
        (
            Measured("", "", "a", 0.75, "", "", None, function=0.1),
            "new; nearest a at Jaccard 0.75; with",
        ),
        (Measured("", "", "a", 0.2, "", "d", 1.0), "close in meaning to d, kept"),
        (Measured("", "", "a", 0.2, "", "d", 0.5), "new; nearest a"),
    ],
)
def test_what_was_kept_as_a_variant_is_not_called_new(measured, told):
    assert judge(measured, Thresholds(keep_variants=True)).explanation.startswith(told)


def test_a_decision_survives_json_with_its_thresholds():
    decision = DiversityFilter([Known("locks", LOCKS)]).decide("new", _dead_code(LOCKS))
    assert Decision.from_json(decision.to_json()) == decision
    assert json.loads(decision.to_json())["thresholds"] == {
        "jaccard": 0.70,
        "cosine": 0.98,
        "keep_variants": False,
        "certain": 0.90,
        "function": 0.35,
    }


def test_jaccard_of_nothing():
    assert jaccard(frozenset(), frozenset()) == 1.0
    assert jaccard(frozenset("a"), frozenset()) == 0.0


def test_a_filter_filled_with_nothing_knows_nothing():
    known = DiversityFilter()
    known.extend([], [], [], np.zeros((0, 128), np.uint32))
    assert known.decide("new", LOCKS).accepted
