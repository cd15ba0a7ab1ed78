"""The memory for notebooks: Arrow tables with figures, filters by name, nothing written."""

import math

import pyarrow as pa
import pytest

import memory
from spadekit.errors import BadInput


@pytest.fixture(scope="module")
def view(library):
    return memory.View(library)


def test_environments_carry_their_newest_figures(view):
    table = view.environments()
    assert isinstance(table, pa.Table)
    rows = {row["title"]: row for row in table.to_pylist()}
    assert len(rows) == 10
    coins = rows["Weigh the coins."]
    assert (coins["status"], coins["regret"], coins["measured_by"]) == ("frontier", 0.5, 0)
    parcel = rows["Find the parcel."]
    assert (parcel["status"], parcel["plays_unhinted"], parcel["measured_by"]) == (
        "unmeasured",
        0,
        None,
    )
    assert math.isnan(parcel["regret"])


def test_every_filter_narrows(view):
    assert view.environments(setting="tool_use").num_rows == 3
    assert view.environments(skill="Logical Deduction").num_rows == 1
    assert view.environments(status="frontier", regret="0.2..").num_rows == 2
    assert view.environments(episode_return="..0.1").num_rows == 1
    assert view.environments(status="unmeasured").num_rows == 5
    assert view.environments(shard=2).num_rows == 0


def test_columns_are_chosen_and_unknown_ones_refused_with_the_nearest(view):
    assert view.environments(columns=["title", "regret"]).column_names == ["title", "regret"]
    with pytest.raises(BadInput, match="no field 'regrets' here; nearest: regret"):
        view.environments(columns=["regrets"])
    with pytest.raises(BadInput, match="no field 'zzz' here; known: id, environment"):
        view.plays(columns=["zzz"])


def test_an_unknown_skill_or_status_is_refused_with_the_nearest(view):
    with pytest.raises(BadInput, match="'optimization'; nearest: optimisation"):
        view.environments(skill="optimization")
    with pytest.raises(BadInput, match="'optimization'; nearest: optimisation"):
        view.search("parcels", skill="optimization")
    with pytest.raises(BadInput, match="status 'great' is unknown"):
        view.environments(status="great")


def test_a_word_that_no_record_can_have_is_refused_with_the_nearest(view):
    for call, message in {
        lambda: view.environments(
            setting="tooluse"
        ): "setting 'tooluse' is unknown; nearest: tool_use",
        lambda: view.search("coin", setting="x"): "setting 'x' is unknown; known: game, tool_use",
        lambda: view.environments(status="frontiers"): "status .* is unknown; nearest: frontier",
        lambda: view.plays(purpose="heldout"): "purpose 'heldout' is unknown; known: probe, train",
        lambda: view.designs(outcome="admited"): "outcome 'admited' is unknown; nearest: admitted",
        lambda: view.quarantine(stage="solveable"): "stage .* is unknown; nearest: solvable",
    }.items():
        with pytest.raises(BadInput, match=message):
            call()
    assert view.quarantine(stage="bounded").num_rows == 0  # known, and nothing fell there


def test_numbers_that_no_column_holds_are_out_of_range(view):
    large = 99999999999999999999
    for call in (
        lambda: view.environments(shard=large),
        lambda: view.search("coin", shard=large),
        lambda: view.search(shard=-1),
        lambda: view.plays(policy_version=2**31),
        lambda: view.designs(shard=-1),
    ):
        with pytest.raises(BadInput, match=r"(shard|policy_version) -?\d+ is out of range: 0 to"):
            call()
    assert view.plays(policy_version=2**31 - 1).num_rows == 0


def test_search_gives_the_best_first(view):
    found = view.search("false coin", limit=3)
    assert found.num_rows == 3
    assert found.column("title")[0].as_py() == "Weigh the coins."
    assert found.to_pandas().loc[0, "regret"] == 0.5
    like = view.search(like=found.column("id")[0].as_py(), limit=2, columns=["title"])
    assert "Weigh the coins." not in like.column("title").to_pylist()


def test_plays_standings_designs_and_shards(view, make):
    mine = make.environment(0).id
    assert view.plays(mine[:8]).num_rows == 4
    assert view.plays(purpose="train").num_rows == 0
    assert view.plays(policy_version=0, shard=1, columns=["arm"]).column_names == ["arm"]
    assert view.standings(mine).column("regret").to_pylist() == [0.25]
    assert view.standings().num_rows == 5
    assert view.designs(outcome="refused").num_rows == 3
    assert view.designs(shard=9).num_rows == 0
    assert view.shards().column("environments").to_pylist() == [10]
    data = view.shard(1)
    assert (data.environments.num_rows, data.plays.num_rows) == (10, 4)
    with pytest.raises(BadInput, match="no shard 4"):
        view.shard(4)


def test_quarantine_holds_refused_designs_and_duplicates(store, make):
    outcomes = ("admitted", "refused", "duplicate", "faulted")
    designs = [make.design(n, outcome=outcome) for n, outcome in enumerate(outcomes)]
    store.publish(1, [], designs, [], [], meta={})
    found = memory.View(store).quarantine(stage="solvable")
    assert sorted(found.column("outcome").to_pylist()) == ["duplicate", "refused"]
    assert found.column("detail").to_pylist() == ["solution() does not win"] * 2
    store.rebuild()
    assert memory.View(store).quarantine() == found
    store.tables.table("quarantine").delete("outcome = 'refused'")
    assert "table quarantine: 1 rows missing" in store.verify()[0]


def test_a_view_sees_what_is_published_meanwhile_and_a_release(full, make):
    with memory.open(full.place.path, full.config) as view:
        assert view.environments().num_rows == 10
        full.publish(2, [make.environment(20, 2)], [], [], [], meta={})
        assert view.environments(shard=2).num_rows == 1
        full.make_release("v1", [2])
        assert view.release("v1").environments.num_rows == 1
        assert view.releases().column("shards").to_pylist() == ["2"]
    assert view.environments().num_rows == 11  # a closed one opens again when it is used


def test_a_place_without_a_store_is_refused(tmp_path):
    with pytest.raises(BadInput, match="no store here"):
        memory.open(tmp_path / "nowhere")
