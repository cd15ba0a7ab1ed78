"""Tables of strangers: read in a process of their own, within limits, without our secrets."""

import itertools
import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from envgen.pools import packages, tables
from envgen.pools.child import Child, child, environment
from envgen.pools.limits import FILES, Limits, check_pool
from envgen.pools.local import read
from envgen.pools.tables import reading
from spadekit.errors import BadInput, OurFault

MB = 1_000_000
SMALL = Limits(65_536, MB)


def bomb(path: Path, values: list[str], size: int) -> int:
    """Write values of ``size`` spaces each, a row group for each; return the file's bytes."""
    table = pa.table({"source": [value.ljust(size) for value in values]})
    pq.write_table(table, path, compression="zstd", use_dictionary=False, row_group_size=1)
    return path.stat().st_size


def varint(number: int, size: int = 0) -> bytes:
    """Return a number as Parquet's footer writes it, in at least ``size`` bytes."""
    number, out = number << 1, bytearray()
    while number or not out:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out += b"\x80" * (size - len(out))
    out[-1] &= 0x7F
    return bytes(out)


def test_a_table_that_says_it_inflates_too_far_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    assert bomb(path, ["a"], 20 * MB) < 10_000
    [one] = read(path, SMALL)
    assert "inflates to 20.0 MB; at most 8.0 MB are taken, --most-mb allows more" in str(one)
    with reading(SMALL) as reader, pytest.raises(BadInput, match=r"bomb.parquet: inflates"):
        list(reader.rows(path, list))


def test_a_table_that_lies_about_it_ends_its_reader_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, size = tmp_path / "lie.parquet", 64 * MB
    bomb(path, list("abcdefgh"), size)
    data = path.read_bytes()
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    group = pq.read_metadata(path).row_group(0)
    true = varint(group.total_byte_size)
    footer = data[start:]
    assert footer.count(true) >= 16  # of eight chunks and their groups
    path.write_bytes(data[:start] + footer.replace(true, varint(100, len(true))))
    assert pq.read_metadata(path).row_group(0).total_byte_size == 100
    monkeypatch.setattr(tables, "MEMORY", 1 << 30)
    says = "cannot be read as Parquet|may need more than 1 GiB"
    with reading(SMALL) as reader, pytest.raises(BadInput, match=says):
        list(reader.rows(path, list))


def test_a_dictionary_that_every_row_repeats_is_read_a_few_rows_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value, count = "x" * 8 * MB, 200
    values = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array([value]))
    path = tmp_path / "many.parquet"
    pq.write_table(pa.table({"source": values}), path, store_schema=False)
    assert path.stat().st_size < MB
    monkeypatch.setattr(tables, "MEMORY", 1 << 30)
    with reading(Limits(65_536, 2 * MB)) as reader:
        for row in itertools.islice(reader.rows(path, list), 10):
            assert row == {"source": value}


def test_rows_without_end_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"source": pa.nulls(1_000_001, pa.string())}), path)
    [one] = read(path, SMALL)
    assert "1000001 rows; a table has at most 1000000" in str(one)


def test_a_column_of_another_type_is_one_line(tmp_path: Path) -> None:
    pq.write_table(pa.table({"source": [1, 2]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"source": [b"x"]}), tmp_path / "b.parquet")
    pq.write_table(pa.table({"code": ["x = 1", None], "hint": [1, 2]}), tmp_path / "c.parquet")
    (tmp_path / "d.jsonl").write_text('{"source": null}\n{"code": {}}\n{"code": "x", "hint": {}}\n')
    found = [(one.place, getattr(one, "detail", "")) for one in read(tmp_path, SMALL)]
    assert found == [
        ("a.parquet", "the source is no column of text: source int64"),
        ("b.parquet", "the source is no column of text: source binary"),
        ("c.parquet:1", "column `hint` holds a number, not text"),
        ("c.parquet:2", "column `code` is null"),
        ("d.jsonl:1", "column `source` is null"),
        ("d.jsonl:2", "column `code` holds an object, not text"),
        ("d.jsonl:3", "column `hint` holds an object, not text"),
    ]


def test_files_are_counted_before_they_are_fetched() -> None:
    check_pool({"a": MB, "b": 0}, SMALL, "hf://a/b")
    for sizes, says in (
        ({"a": MB, "big": MB}, r"2 files of 2.0 MB \(a: 1.0 MB\); at most 1.0 MB are taken"),
        ({"a": -1}, "does not tell how large a is"),
        (dict.fromkeys(map(str, range(FILES + 1)), 0), "5001 files to fetch"),
    ):
        with pytest.raises(BadInput, match=says):
            check_pool(sizes, SMALL, "hf://a/b")


def test_a_child_knows_no_secret_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {
        "HF_TOKEN": "hf_x",
        "AWS_SECRET_ACCESS_KEY": "y",
        "HTTPS_PROXY": "http://u:p@h",
        "MINE": "z",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    with child([sys.executable, "-c", code], environment(PYTHONHASHSEED="0")) as process:
        known = json.loads(process.next(60, 100_000))
    assert not secrets.keys() & known.keys()
    assert (known["PYTHONHASHSEED"], "PATH" in known) == ("0", True)


def test_a_child_that_says_nothing_or_too_much_is_given_up() -> None:
    def python(code: str) -> AbstractContextManager[Child]:
        return child([sys.executable, "-c", code], environment())

    with python("import time; time.sleep(60)") as process, pytest.raises(TimeoutError):
        process.next(0.1, 100)
    with python("print('x' * 9_000_000)") as process, pytest.raises(ValueError, match="1000 bytes"):
        process.next(60, 1000)
    with python("") as process:
        assert process.next(60, 100) == b""


def test_names_of_columns_without_end_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "names.parquet"
    pq.write_table(pa.table({"x" * 300_000: ["a"]}), path)
    monkeypatch.setattr(tables, "LONGEST", 50_000)
    says = "names.parquet: cannot be read as Parquet: a line of more than 100000 bytes"
    with reading(SMALL) as reader, pytest.raises(BadInput, match=says):
        list(reader.rows(path, list))


def test_no_child_imports_what_lies_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json.py", "tables.py"):
        (tmp_path / name).write_text("from pathlib import Path\nPath('owned').touch()\n")
    monkeypatch.chdir(tmp_path)
    # Without the package the maker ends; what it would import first is in the standard library.
    with packages._maker("reasoning-gym", ["gcd"]) as maker:
        maker.next(60, 1_000_000)
    with child([sys.executable, "-m", "json.tool", "--help"], environment()) as process:
        assert b"json" in process.next(60, 1_000_000)
    pq.write_table(pa.table({"source": ["x = 1"]}), tmp_path / "a.parquet")
    with reading(SMALL) as reader:
        assert list(reader.rows(tmp_path / "a.parquet", list)) == [{"source": "x = 1"}]
    assert not (tmp_path / "owned").exists()


def test_a_maker_that_is_silent_or_says_too_much_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def maker(code: str) -> Callable[[str, list[str]], AbstractContextManager[Child]]:
        return lambda package, tasks: child(
            [
                sys.executable,
                "-c",
                f"import json, time\nprint(json.dumps({{'tasks': ['a', 'b']}}))\n{code}",
            ]
            if code
            else [sys.executable, "-c", "import time; time.sleep(60)"],
            environment(),
        )

    # A module that is there, so that the package counts as installed.
    monkeypatch.setitem(packages.MODULES, "reasoning-gym", "json")
    monkeypatch.setattr(packages, "START_S", 0.2)
    monkeypatch.setattr(packages, "_maker", maker(""))
    with pytest.raises(OurFault, match=r"reasoning-gym was not loaded within 0\.2 s"):
        list(packages.read_package("reasoning-gym", [], MB))
    monkeypatch.setattr(packages, "START_S", 60.0)
    monkeypatch.setattr(packages, "LONGEST", 1_000)
    monkeypatch.setattr(packages, "_maker", maker("print('x' * 300_000)"))
    found = list(packages.read_package("reasoning-gym", ["a", "b"], MB))
    assert [(one.place, getattr(one, "reason", "")) for one in found] == [
        ("reasoning-gym:a", "size"),
        ("reasoning-gym:b", "size"),
    ]
