"""Search finds environments by meaning and by words, and filters by what is known about them."""

import math

import pytest

from memory.fusion import answers, fuse, terms
from memory.search import Query, parse_band, passes
from spadekit.errors import BadInput

# A paraphrase of every environment in conftest.ABOUT, in the same order.
PARAPHRASES = (
    "steer a boat along a waterway with gates",
    "simple arithmetic: total of a pair of integers",
    "hangman: discover the secret term by its characters",
    "which of these pieces of money is counterfeit",
    "knapsack: fill a truck without overloading it",
    "predict what comes after these figures",
    "work out cause and effect between buttons and lights",
    "schedule conference space in the office calendar",
    "track a delivery by the addressee",
    "recover when charging a customer's card does not work",
)


def test_paraphrases_find_their_environment_first(library, make):
    firsts = [library.search(text, limit=3)[0].environment for text in PARAPHRASES]
    wanted = [make.environment(number) for number in range(10)]
    assert sum(a == b for a, b in zip(firsts, wanted, strict=True)) >= 9


def test_words_find_what_meaning_alone_would_not(full, make):
    full.search("words that make the index of words")
    rare = make.environment(20, 2, title="Untitled.", description="About the zqxv device.")
    full.publish(2, [rare], [], [], [], meta={})
    assert full.search("zqxv")[0].environment == rare


def test_neighbours_of_an_environment_leave_it_out(library, make):
    parcel = make.environment(8)
    hits = library.search(like=parcel.id[:8], limit=9)
    assert len(hits) == 9
    assert parcel not in [hit.environment for hit in hits]
    similarities = [hit.similarity for hit in hits]
    assert similarities == sorted(similarities, reverse=True)


@pytest.mark.parametrize(
    ("filters", "numbers"),
    [
        ({"setting": "tool_use"}, {7, 8, 9}),
        ({"skill": "optimisation"}, {4}),
        ({"skill": "Spatial Reasoning"}, {0}),
        ({"status": "frontier"}, {0, 3, 4}),
        ({"status": "unmeasured"}, {5, 6, 7, 8, 9}),
        ({"regret": (0.2, math.inf)}, {0, 3}),
        ({"regret": (-math.inf, 0.05)}, {1, 4}),
        ({"episode_return": (0.3, 0.5)}, {0, 3, 4}),
        ({"status": "frontier", "regret": (0.3, 1.0)}, {3}),
        ({"shard": 1, "setting": "game", "status": "hopeless"}, {2}),
        ({"shard": 2}, set()),
        ({"status": "hint_only"}, set()),
    ],
)
@pytest.mark.parametrize("text", ["", "a puzzle about numbers"])
def test_filters(library, make, text, filters, numbers):
    found = {hit.environment.id for hit in library.search(text, **filters)}
    assert found == {make.environment(number).id for number in numbers}


def test_many_that_a_filter_drops_do_not_hide_the_few_that_pass(store, make, monkeypatch):
    # More pass the filter than are put into the query, and most of them are far off.
    monkeypatch.setattr("memory.search._PREFILTER", 5)
    records = [make.environment(number) for number in range(100)]
    standings = [
        make.standing(one.id, status="frontier" if number % 10 == 9 else "mastered")
        for number, one in enumerate(records)
    ]
    store.publish(1, records, [], [], standings, meta={})
    hits = store.search("add two numbers", status="frontier", limit=10)
    assert len(hits) == 10
    assert {hit.standing.status for hit in hits} == {"frontier"}


def test_without_words_the_greatest_regret_comes_first(library):
    hits = library.search(status="frontier")
    assert [hit.standing.regret for hit in hits] == [0.5, 0.25, 0.05]


def test_the_limit_is_kept(library):
    assert len(library.search("number", limit=2)) == 2


def test_an_empty_store_finds_nothing(store):
    assert store.search("anything") == []
    assert store.search() == []


@pytest.mark.parametrize("text", ['"', "a AND (b", "'; DROP TABLE", "ünï\x00", "x" * 5000, "  "])
def test_any_text_is_only_text(library, text):
    assert len(library.search(text)) == 10
    assert library.search(f"false coin {text}")[0].environment.title == "Weigh the coins."


@pytest.mark.parametrize("skill", ["'", "x') OR true --"])
def test_a_filter_is_never_a_query(library, skill):
    with pytest.raises(BadInput, match="no environment has the skill"):
        library.search("anything", skill=skill)
    assert len(library.environments()) == 10


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"status": "great"}, "status 'great' is unknown; known: frontier"),
        ({"setting": "board"}, "setting 'board' is unknown; known: game, tool_use"),
        ({"limit": 0}, "at least 1"),
        ({"regret": (0.5, 0.1)}, "low end comes first"),
        ({"like": "ffffffff"}, "no environment ffffffff"),
    ],
)
def test_bad_filters_are_refused(library, filters, message):
    with pytest.raises(BadInput, match=message):
        library.search("" if "like" in filters else "words", **filters)


@pytest.mark.parametrize(
    ("text", "band"),
    [
        ("", None),
        ("0.2..0.8", (0.2, 0.8)),
        ("0.2..", (0.2, math.inf)),
        ("..0.8", (-math.inf, 0.8)),
        ("-0.5..-0.1", (-0.5, -0.1)),
    ],
)
def test_ranges(text, band):
    assert parse_band(text) == band


@pytest.mark.parametrize("text", ["0.2", "a..b", "0.8..0.2", "nan..1", "0.1...0.2"])
def test_malformed_ranges_are_refused(text):
    with pytest.raises(BadInput, match=r"write it like 0\.2\.\.0\.8"):
        parse_band(text)


def test_unknown_figures_pass_no_band(make):
    assert not passes(None, Query(regret=(-9.0, 9.0)))
    assert not passes(make.standing("e", regret=math.nan), Query(regret=(-9.0, 9.0)))
    assert passes(None, Query(status="unmeasured"))
    assert passes(None, Query())


def test_fusion_prefers_what_both_rankings_know():
    scores = fuse(["a", "b", "c"], ["c", "d"])
    assert max(scores, key=scores.__getitem__) == "c"
    assert scores["a"] > scores["b"] > scores["d"] - 1e-4
    assert fuse() == {}


def test_words_count_when_they_are_most_of_what_was_asked():
    wanted = terms("the hidden canals")
    assert wanted == {"hidden", "canal"}
    assert answers(wanted, "A canal.")
    assert not answers(terms("hidden canals of an old town"), "A canal.")
    assert answers(terms("of the"), "anything")
