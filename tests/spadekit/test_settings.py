import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from spadekit.errors import BadInput
from spadekit.settings import load


@dataclass(frozen=True)
class Engine:
    kind: Literal["local", "remote"] = "local"
    rate: float = 0.5
    names: tuple[str, ...] = ()
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.rate < 0:
            raise ValueError("rate must not be negative")


SCHEMA = {"engine": Engine}


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_recipe_is_its_base_with_its_own_keys_on_top_and_overrides_last(tmp_path: Path) -> None:
    write(tmp_path / "base.toml", "[engine]\nrate = 1\nnames = ['a']\n")
    child = write(tmp_path / "child.toml", "base = 'base.toml'\n[engine]\nnames = ['b']\n")
    engine = load(child, ["engine.limit=3", "engine.kind=remote"], SCHEMA).section(Engine)
    assert engine == Engine("remote", 1.0, ("b",), 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[engin]\n", "unknown section [engin]; did you mean `engine`?"),
        ("[engine]\nrte = 1\n", "[engine] has no key `rte`; did you mean `rate`?"),
        ("[engine]\nkind = 'cloud'\n", "engine.kind = 'cloud' is not one of 'local', 'remote'"),
        ("[engine]\nrate = 'fast'\n", "engine.rate = 'fast' must be of type float"),
        ("[engine]\nrate = true\n", "engine.rate = True must be of type float"),
        ("[engine]\nnames = 'a'\n", "engine.names must be a list"),
        ("[engine]\nrate = -1\n", "[engine] rate must not be negative"),
        ("rate = 1\n", "`rate` stands outside any [section]"),
        ("[engine\n", "cannot be read as TOML"),
        ("base = 'recipe.toml'\n", "leads back to this file"),
        ("base = ['a.toml']\n", "`base` must be the name of one file"),
        ("base = 'none.toml'\n", "none.toml: no such configuration file (the base of recipe.toml)"),
    ],
)
def test_a_bad_recipe_is_refused_with_what_is_wrong(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(BadInput) as error:
        load(write(tmp_path / "recipe.toml", text), [], SCHEMA)
    assert message in str(error.value)


def test_overlays_lie_on_a_recipe_in_order_and_below_overrides(tmp_path: Path) -> None:
    recipe = write(tmp_path / "recipe.toml", "[engine]\nrate = 1\nlimit = 1\nnames = ['a']\n")
    one = write(tmp_path / "one.toml", "[engine]\nlimit = 2\nnames = ['b']\n")
    two = write(tmp_path / "two.toml", "[engine]\nlimit = 3\n")
    found = load(recipe, ["engine.rate=4"], SCHEMA, [one, two]).section(Engine)
    assert found == Engine("local", 4.0, ("b",), 3)
    assert load(recipe, [], SCHEMA, [two, one]).section(Engine).limit == 2


def test_what_is_wrong_is_said_of_the_file_it_stands_in(tmp_path: Path) -> None:
    """Neither the recipe that names a base, nor one that an overlay was laid on."""
    write(tmp_path / "base.toml", "[engine]\nrte = 1\n")
    child = write(tmp_path / "child.toml", "base = 'base.toml'\n[engine]\nlimit = 2\n")
    sound = write(tmp_path / "sound.toml", "[engine]\nlimit = 2\n")
    for text, message in [
        ("[engine]\nrate = 'fast'\n", "over.toml: engine.rate = 'fast' must be"),
        ("[engine]\nlimt = 1\n", "over.toml: [engine] has no key `limt`"),
        ("[enginee]\n", "over.toml: unknown section [enginee]"),
    ]:
        over = write(tmp_path / "over.toml", text)
        with pytest.raises(BadInput) as refused:
            load(sound, [], SCHEMA, [over])
        assert message in str(refused.value)
    with pytest.raises(BadInput, match=r"base\.toml: \[engine\] has no key `rte`"):
        load(child, [], SCHEMA)
    with pytest.raises(BadInput, match=r"--set engine\.rte: \[engine\] has no key"):
        load(sound, ["engine.rte=1"], SCHEMA)
    with pytest.raises(BadInput, match=r"--set engin\.rate: unknown section"):
        load(sound, ["engin.rate=1"], SCHEMA)


def test_a_missing_recipe_and_a_malformed_override_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such configuration file"):
        load(tmp_path / "none.toml", [], SCHEMA)
    for text in ("engine", "engine.rate", "engine.rate=1\nlimit = 2"):
        with pytest.raises(BadInput, match="write it as section.key=value"):
            load(write(tmp_path / "recipe.toml", ""), [text], SCHEMA)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="not a regular file"):
        load(tmp_path / "pipe", [], SCHEMA)


def test_the_digest_changes_with_any_value_and_not_with_the_way_it_was_written(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "recipe.toml", "[engine]\nrate = 1\n")
    first = load(path, [], SCHEMA).digest
    assert first == load(path, ["engine.rate=1.0"], SCHEMA).digest
    assert first != load(path, ["engine.rate=2"], SCHEMA).digest


DEEP = "[" * 50_000


def test_values_beyond_what_python_reads_are_refused_in_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "recipe.toml", "")
    for value in (DEEP, "{a = " * 5000, "9" * 5000, "9" * 400, "nan"):
        with pytest.raises(BadInput) as refused:
            load(path, [f"engine.rate={value}"], SCHEMA)
        assert len(str(refused.value).splitlines()) == 1
        write(path, f"[engine]\nrate = {value}\n")
        with pytest.raises(BadInput) as refused:
            load(path, [], SCHEMA)
        assert len(str(refused.value).splitlines()) == 1
        write(path, "")


def test_recipes_that_cannot_be_opened_or_stand_in_a_tower_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.toml").symlink_to("b.toml")
    (tmp_path / "b.toml").symlink_to("a.toml")
    for number in range(20):
        write(tmp_path / f"{number}.toml", f"base = '{number + 1}.toml'\n")
    for name, message in (
        ("a.toml", "cannot be opened"),
        ("x" * 300, "cannot be opened"),
        ("0.toml", "the base of 16 files"),
    ):
        with pytest.raises(BadInput, match=message):
            load(tmp_path / name, [], SCHEMA)
