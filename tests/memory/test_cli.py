"""The commands answer in tables or JSON, with exit codes that a script can use."""

import json
from pathlib import Path

import pytest
import typer

from memory import MemoryConfig, Store, cli
from spadekit.cli import Front
from spadekit.errors import BadInput


@pytest.fixture
def run(full, tmp_path, capsys):
    """Run a command on the full store; return exit code, stdout and stderr."""
    config = tmp_path / "recipe.toml"
    config.write_text("[memory]\nfresh_s = 0.0\n")
    full.embed()
    home = tmp_path / "home"
    home.mkdir()
    full.place.path.rename(home / "store")

    def run_(*arguments: str, home: Path = home) -> tuple[int, str, str]:
        app = typer.Typer()

        @app.callback()
        def front(ctx: typer.Context) -> None:
            ctx.obj = Front({"memory": MemoryConfig}, config)

        cli.register(app, named=lambda _: None)
        code = app([*arguments, "--home", str(home)], standalone_mode=False) or 0
        out, err = capsys.readouterr()
        return code, out, err

    return run_


def test_search_prints_one_json_list(run):
    code, out, _ = run("search", "false", "coin", "--json", "--limit", "2")
    assert code == 0
    hits = json.loads(out)
    assert [hit["title"] for hit in hits][:1] == ["Weigh the coins."]
    assert len(hits) == 2
    assert hits[0]["status"] == "frontier"
    assert hits[0]["regret"] == 0.5


def test_search_prints_a_table_and_takes_every_filter(run):
    code, out, _ = run(
        "search", "coin", "--status", "frontier", "--regret", "0.2..", "--return", "..0.45"
    )
    assert code == 0
    assert "Weigh" in out
    assert "barge" not in out


def test_nothing_found_is_exit_1(run):
    code, out, err = run("search", "coin", "--regret", "0.9..")
    assert (code, out) == (1, "")
    assert "nothing found" in err
    code, out, _ = run("search", "coin", "--regret", "0.9..", "--json")
    assert (code, json.loads(out)) == (1, [])


def test_neighbours(run, make):
    code, out, _ = run("search", "--like", make.environment(7).id[:8], "--json")
    assert code == 0
    assert make.environment(7).id not in {hit["id"] for hit in json.loads(out)}


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "x", "--regret", "high"),
        ("search", "x", "--status", "great"),
        ("search", "x", "--like", "ffffffff"),
        ("show", "ffffffff"),
        ("show", "no-id"),
    ],
)
def test_bad_input_is_refused(run, arguments):
    with pytest.raises(BadInput):
        run(*arguments)


def test_a_shard_that_is_not_there_is_no_empty_shard(run):
    with pytest.raises(BadInput, match="no shard 99; the store has 1 to 1"):
        run("search", "canal", "--shard", "99")


def test_a_missing_store_is_refused_with_the_next_step(run, tmp_path):
    for command in (("search", "x"), ("stats",), ("shards",), ("memory", "verify")):
        with pytest.raises(BadInput, match="spadework generate"):
            run(*command, home=tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_show_prints_source_standings_and_decision(run, make):
    record = make.environment(3)
    code, out, _ = run("show", record.id[:8])
    assert code == 0
    assert record.source.strip() in out
    assert "0.500" in out
    code, out, _ = run("show", record.id, "--json")
    shown = json.loads(out)
    assert shown["standings"][0]["status"] == "frontier"
    assert shown["source"] == record.source
    assert shown["standings"][0]["regret"] == 0.5


def test_show_design_tells_why_it_was_refused(run, make):
    code, out, _ = run("show", make.design(1).id, "--why")
    assert code == 0
    assert "solution() does not win" in out
    code, out, _ = run("show", make.design(1).id, "--why", "--json")
    assert json.loads(out)["why"] == "solvable: certificate: solution() does not win"


def test_stats_and_shards(run):
    code, out, _ = run("stats")
    assert code == 0
    assert "optimisation" in out
    assert "█" in out
    code, out, _ = run("stats", "--json")
    assert json.loads(out)["environments"] == 10
    code, out, _ = run("shards", "--json")
    [row] = json.loads(out)
    assert row["environments"] == 10
    assert all(name.isidentifier() for name in row)
    assert str(row["plays"]) in run("shards")[1]


def test_the_funnel_alone(run):
    code, out, _ = run("stats", "--funnel")
    assert code == 0
    assert "solvable" in out
    assert "optimisation" not in out
    assert "█" not in out
    assert set(json.loads(run("stats", "--funnel", "--json")[1])) == {"stages", "funnel"}


def test_the_funnel_embeds_nothing(run, make, tmp_path):
    with Store.open(tmp_path / "home" / "store") as store:
        store.publish(2, [make.environment(40, 2)], [], [], [], meta={})
        assert store.unembedded() == 1
    code, out, err = run("stats", "--funnel", "--json")
    assert (code, err) == (0, "")
    lost = {"outcome": "refused", "stage": "solvable", "reason": "certificate", "designs": 3}
    assert json.loads(out) == {
        "stages": [{"stage": "solvable", "fell": 3, "left": 0}],
        "funnel": [lost],
    }
    with Store.open(tmp_path / "home" / "store") as store:
        assert store.unembedded() == 1


def test_figures_of_a_store_without_shards_are_exit_1(run, tmp_path):
    with Store.open(tmp_path / "empty" / "store", create=True):
        pass
    assert run("stats", home=tmp_path / "empty")[0] == 1
    assert run("stats", "--funnel", home=tmp_path / "empty")[0] == 1


def test_a_store_that_fails_is_not_one_without_what_was_asked_for(run, make, monkeypatch):
    def fails(*_):
        raise BadInput("/data/no environment: the disk is full")

    monkeypatch.setattr(Store, "environment", fails)
    with pytest.raises(BadInput, match="the disk is full"):
        run("show", make.environment(3).id)


def test_environments_without_a_skill_have_a_row(full, make, run, tmp_path):
    with Store.open(tmp_path / "home" / "store") as store:
        store.publish(2, [make.environment(40, 2, skills=())], [], [], [], meta={})
    assert json.loads(run("stats", "--json")[1])["skills"][""] == {"unmeasured": 1}
    assert "(none)" in run("stats")[1]


def test_show_prints_the_certificate_and_where_it_was_imported_from(full, make, run, tmp_path):
    from memory import Store

    checks = [{"name": "solvable", "verdict": "pass", "message": "wins on 8 seeds"}]
    brief = {"origin": "import", "uri": "hf://some/pool", "place": "row 7"}
    design = make.design(40, shard=2, brief=json.dumps(brief))
    record = make.environment(40, 2, design=design.id, certificate=json.dumps({"checks": checks}))
    with Store.open(tmp_path / "home" / "store") as store:
        store.publish(2, [record], [design], [], [], meta={})
    _, out, _ = run("show", record.id)
    assert "wins on 8 seeds" in out
    assert "hf://some/pool row 7" in out
    origin = {"uri": "hf://some/pool", "place": "row 7"}
    assert json.loads(run("show", record.id, "--json")[1])["origin"] == origin
    assert json.loads(run("show", make.environment(3).id, "--json")[1])["origin"] == {}


def test_show_says_whether_a_certificate_was_only_believed(full, make, run, tmp_path):
    from memory import Store

    brief = {"origin": "import", "uri": "hf://some/pool@0", "place": "row 7", "release": "v1"}
    designs = [
        make.design(number, shard=2, brief=json.dumps(brief | {"certificate": word}))
        for number, word in ((40, "believed"), (41, "made"))
    ]
    records = [
        make.environment(number, 2, design=design.id)
        for number, design in zip((40, 41), designs, strict=True)
    ]
    with Store.open(tmp_path / "home" / "store") as store:
        store.publish(2, records, designs, [], [], meta={})
    _, out, _ = run("show", records[0].id)
    assert "hf://some/pool@0 v1 row 7" in out
    assert "not checked here" in out
    assert "not checked here" not in run("show", records[1].id)[1]
    told = json.loads(run("show", records[0].id, "--json")[1])["origin"]
    assert (told["release"], told["certificate"]) == ("v1", "believed")


def test_upkeep(run, tmp_path):
    code, out, _ = run("memory", "verify")
    assert code == 0
    assert "problems" in out
    assert json.loads(run("memory", "verify", "--json")[1]) == []
    assert run("memory", "compact")[0] == 0
    assert run("memory", "rebuild")[0] == 0
    plays = tmp_path / "home" / "store" / "shards" / "000001" / "plays.parquet"
    plays.write_bytes(b"torn")
    code, out, err = run("memory", "verify")
    assert (code, out) == (1, "")
    assert "plays.parquet" in err
    assert json.loads(run("memory", "verify", "--json")[1])[0].startswith(str(plays))


def test_hostile_text_reaches_the_terminal_only_as_text(full, make, run, tmp_path):
    from memory import Store

    store = Store.open(tmp_path / "home" / "store")
    evil = make.environment(40, 2, title="[b]x\x1b\x07", source="\x1b[2J = 1")
    store.publish(2, [evil], [], [], [], meta={})
    for command in (("show", evil.id), ("search", "--shard", "2")):
        _, out, _ = run(*command)
        assert "\x1b" not in out
        assert "\x07" not in out
        assert "[b]x" in out


def test_releases_are_made_and_listed(run):
    code, _, err = run("memory", "releases")
    assert code == 1
    assert "memory release NAME --shards" in err
    code, out, _ = run("memory", "release", "v1", "--shards", "1", "--json")
    made = json.loads(out)
    assert (code, made["name"], made["shards"]) == (0, "v1", "1")
    assert json.loads(run("memory", "releases", "--json")[1]) == [made]
    with pytest.raises(BadInput, match="no shard 2; the store has 1 to 1"):
        run("memory", "release", "v2", "--shards", "1..2")


def test_a_copy_is_one_command_and_the_setting_works_there(run, tmp_path):
    source, target = tmp_path / "home" / "store", tmp_path / "elsewhere"
    code, out, err = run("memory", "copy", str(source), str(target), "--json")
    assert (code, json.loads(out)["to"]) == (0, str(target))
    assert f"--set memory.uri={target}" in err
    there = ("--set", f"memory.uri={target}")
    assert len(json.loads(run("search", "coin", "--json", *there)[1])) == 10
    assert run("memory", "verify", *there)[0] == 0
    assert json.loads(run("memory", "copy", str(source), str(target), "--json")[1])["written"] == 0


def test_unknown_skills_are_refused_with_the_nearest(run):
    with pytest.raises(BadInput, match="'optimization'; nearest: optimisation"):
        run("search", "parcels", "--skill", "optimization")


def test_tables_are_not_cut_where_there_is_no_terminal(full, make, run, tmp_path):
    from memory import Store

    title = "A title that is " + "very " * 30 + "long."
    with Store.open(tmp_path / "home" / "store") as store:
        store.publish(2, [make.environment(40, 2, title=title)], [], [], [], meta={})
    _, out, _ = run("search", "--shard", "2")
    assert title in out
    assert "policy" in out


def test_show_tells_parents_and_descendants(full, make, run, tmp_path):
    from memory import Store

    old = make.environment(0)
    child = make.environment(40, 2, title="Child.", parents=(old.id, "f" * 20))
    grandchild = make.environment(41, 2, title="Grandchild.", parents=(child.id, old.id))
    with Store.open(tmp_path / "home" / "store") as store:
        store.publish(2, [child, grandchild], [], [], [], meta={})
    shown = json.loads(run("show", old.id, "--json")[1])
    assert shown["ancestors"] == []
    found = [(one["title"], one["generations"]) for one in shown["descendants"]]
    assert sorted(found) == [("Child.", 1), ("Grandchild.", 1)]
    shown = json.loads(run("show", grandchild.id, "--json")[1])
    assert [(one["title"], one["generations"]) for one in shown["ancestors"]][:2] == sorted(
        [("Child.", 1), (old.title, 1)],
        key=lambda one: {"Child.": child, old.title: old}[one[0]].id,
    )
    assert shown["ancestors"][2] == {"id": "f" * 20, "title": "", "shard": 0, "generations": 2}
    _, out, _ = run("show", child.id)
    assert "(not in this store)" in out
    assert "descendant" in out


def test_show_why_prints_similarities_beside_their_thresholds(full, make, run, tmp_path):
    from memory import Store
    from memory.diversity import Decision, Thresholds

    near = make.environment(3)
    decision = Decision(True, "", near.id, 0.412, near.id, 0.25, Thresholds())
    record = make.environment(40, 2, decision=decision.to_json())
    with Store.open(tmp_path / "home" / "store") as store:
        store.publish(2, [record], [], [], [], meta={})
    _, out, _ = run("show", record.id, "--why")
    assert f"{near.id} Weigh the coins." in out
    assert "0.412 (a variant from 0.70 on)" in out
    assert "0.750 (not new from 0.98 on)" in out
    _, out, _ = run("show", near.id, "--why")
    assert "none recorded" in out
