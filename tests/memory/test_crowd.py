"""Writers at once and kills, in a short form of what ``bench throughput --only memory`` does."""

from bench.memory import crowd


def test_writers_at_once_leave_every_row_once_and_readers_in_peace(tmp_path):
    rows = {row.measure: row.value for row in crowd.writers(tmp_path, 2, 2)}
    for what in ("rows missing", "rows double", "reader errors", "problems verify finds"):
        assert rows[f"2 processes writing at once: {what}"] == 0, what


def test_kills_of_writers_and_of_compaction_lose_nothing(tmp_path):
    rows = {row.measure: row.value for row in crowd.kills(tmp_path, 2)}
    name = "2 kills of writers and compaction"
    assert rows[f"{name}: publications acknowledged"] > 0
    for what in ("acknowledged and lost", "times the store did not open", "problems verify finds"):
        assert rows[f"{name}: {what}"] == 0, what
