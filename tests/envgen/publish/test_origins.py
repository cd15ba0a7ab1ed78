"""Where environments came from, as the designs of shards tell."""

import json

import pyarrow as pa

from envgen.publish.origins import believed


def designs(**certificates: str) -> pa.Table:
    brief = {"origin": "import", "uri": "hf://ann/worlds", "place": "x.parquet:1"}
    rows = [
        {"environment": name, "brief": json.dumps(brief | {"certificate": word})}
        for name, word in certificates.items()
    ]
    return pa.Table.from_pylist(rows)


def test_what_was_believed_is_not_any_more_once_a_later_shard_certified_it() -> None:
    first, second = designs(a="believed", b="believed", c="made"), designs(a="confirmed")
    assert believed([first]) == {"a", "b"}
    assert believed([first, second]) == {"b"}
    assert believed([]) == set()
