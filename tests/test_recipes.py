"""Every recipe, and every overlay on each: loads, validates and tells what it would do."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import spadework
from envgen.config import DesignerConfig, ProducerConfig
from envgen.skills import TOOL_SKILLS
from solver.config import PolicyConfig, SolverConfig, SyncConfig, TrainConfig
from solver.dryrun import outline, outline_cluster
from solver.openrlhf.config import ClusterConfig
from solver.openrlhf.layout import layout
from spadekit.errors import BadInput
from spadekit.settings import Settings, load
from spadework import RECIPES, SECTIONS

BASES = sorted(RECIPES.glob("*.toml"))
OVERLAYS = sorted((RECIPES / "overlays").glob("*.toml"))
CLUSTER = [one for one in BASES if one.name.startswith("qwen3")]
PAIRS = [(one, ()) for one in BASES] + [(one, (over,)) for one in BASES for over in OVERLAYS]
ROOT = RECIPES.parent


def of(base: Path, *overlays: Path) -> Settings:
    return load(base, [], SECTIONS, overlays)


def overlay(name: str) -> Path:
    return RECIPES / "overlays" / f"{name}.toml"


def shown(base: Path, overlays: tuple[Path, ...]) -> str:
    return "+".join(one.stem for one in (base, *overlays))


@pytest.mark.parametrize(
    ("base", "overlays"), PAIRS, ids=[shown(base, overlays) for base, overlays in PAIRS]
)
def test_a_recipe_loads_and_tells_what_it_would_do_where_it_is_meant_to_run(
    base: Path, overlays: tuple[Path, ...], tmp_path: Path
) -> None:
    settings = of(base, *overlays)
    tell = outline_cluster if base in CLUSTER else outline
    told = tell(settings, tmp_path / "none", None, None)
    assert told.refusals == () and told.memory
    assert json.loads(json.dumps(told.as_json()))["work"]["plays"] > 0
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("base", CLUSTER, ids=lambda one: one.stem)
def test_any_two_overlays_go_together(base: Path) -> None:
    for pair in itertools.permutations(OVERLAYS, 2):
        told = outline_cluster(of(base, *pair), Path("none"), None, None)
        assert told.refusals == (), shown(base, pair)


def test_every_overlay_changes_something_that_the_default_recipe_has() -> None:
    plain = of(RECIPES / "embedded.toml")
    for one in OVERLAYS:
        assert of(RECIPES / "embedded.toml", one).digest != plain.digest, one.name


def test_the_papers_numbers_stand_in_its_recipes() -> None:
    """SPADE, arXiv 2608.19197, and the commands of its reference code."""
    for name, kl, thinking in (
        ("qwen3-4b", 0.0, "off"),
        ("qwen3-8b", 0.005, "on"),
        ("qwen3-30b-a3b", 0.0, "off"),
    ):
        settings = of(RECIPES / f"{name}.toml")
        train, solver = settings.section(TrainConfig), settings.section(SolverConfig)
        designer, producer = settings.section(DesignerConfig), settings.section(ProducerConfig)
        assert settings.section(PolicyConfig).thinking == thinking
        assert (train.kl, train.solver_rate, train.weight_decay) == (kl, 1e-6, 0.1)
        assert (train.beta1, train.beta2, train.clip_low, train.clip_high) == (0.9, 0.98, 0.2, 0.28)
        assert (solver.temperature, solver.max_tokens, solver.max_turns) == (0.6, 8192, 25)
        assert (solver.context, designer.max_tokens) == (32_768, 16_384)
        assert (producer.designs, len(designer.skills)) == (24, 6)
        cluster = settings.section(ClusterConfig)
        laid = layout(settings, False)
        assert (cluster.rollouts, laid.play_rows * laid.row, laid.updates) == (4, 192, 1)
        tools = of(RECIPES / f"{name}.toml", overlay("tools"))
        assert tools.section(DesignerConfig).skills == TOOL_SKILLS
        assert tools.section(TrainConfig).kl == 0.005
        laid = layout(tools, False)
        assert (tools.section(ClusterConfig).rollouts, laid.play_rows * laid.row) == (8, 192)


def test_ablations_take_away_what_their_names_say() -> None:
    base = RECIPES / "qwen3-30b-a3b.toml"
    pool = of(base, overlay("fixed-pool")).section(TrainConfig)
    assert (pool.designer_weight, pool.curriculum, pool.replay) == (0.0, "uniform", 0.0)
    rlve = of(base, overlay("rlve-pool"))
    assert rlve.section(TrainConfig) == pool and rlve.section(SolverConfig).temperature == 1.0
    both = of(base, overlay("frozen-designer"), overlay("no-memory"))
    assert (
        both.section(TrainConfig).designer_weight == 0 and not both.section(DesignerConfig).memory
    )
    assert both.section(SyncConfig).every > 1000
    frozen = both.section(TrainConfig)
    assert (frozen.curriculum, frozen.replay) == ("uniform", 0.0)
    lone = of(base, overlay("no-designer-training"))
    assert lone.section(TrainConfig).designer_weight == 0 and lone.section(SyncConfig).every == 1
    assert len(of(base, overlay("two-skills")).section(DesignerConfig).skills) == 2


def test_the_page_names_every_recipe_and_overlay() -> None:
    page = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    for one in (*BASES, *OVERLAYS):
        assert f"`{one.name}`" in page or f"`overlays/{one.name}`" in page, one.name


def invoke(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(spadework.app, list(words))
    return done.exit_code, done.stdout, done.stderr


def test_what_does_not_fit_ends_with_1_and_one_line_why(tmp_path: Path) -> None:
    words = ("train", "--dry-run", "--backend", "openrlhf", "--home", str(tmp_path / "home"))
    recipe = ("--config", str(RECIPES / "qwen3-30b-a3b.toml"))
    code, out, err = invoke(*words, *recipe, "--set", "cluster.gpu_gb=80")
    assert code == 1 and "openrlhf.cli.train_ppo_ray" in out
    (line,) = [one for one in err.splitlines() if one.startswith("error")]
    assert "training needs about 84 GB of a GPU that has cluster.gpu_gb = 80" in line
    code, out, err = invoke(*words, *recipe, "--json")
    assert code == 0 and json.loads(out)["machines"]["parameters"] == 30_532_122_624
    assert "is not there: the sizes are those of a model of that name" in err
    assert not (tmp_path / "home").exists()


def test_a_model_that_cannot_be_sized_is_said_to_be_so(tmp_path: Path) -> None:
    code, out, err = invoke(
        *("train", "--dry-run", "--home", str(tmp_path / "home"), "--json"),
        *("--set", "policy.model=models/Marvel-3B"),
    )
    told: dict[str, Any] = json.loads(out)
    assert code == 0 and told["memory"] == [] and "memory is not foreseen" in err


def test_what_cannot_be_trained_is_refused_before_anything(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="gives text only"):
        settings = load(RECIPES / "embedded.toml", ["policy.engine=chat"], SECTIONS)
        outline(settings, tmp_path, None, None)
    with pytest.raises(BadInput, match='must be "shared"'):
        outline_cluster(of(RECIPES / "embedded.toml"), tmp_path, None, None)
    assert list(tmp_path.iterdir()) == []
