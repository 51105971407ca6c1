"""What pages read of the ladder is what the ladder's own file holds."""

import json
from pathlib import Path

from benchmarks.carry_ladder import LADDER, carried
from gates2heads.training.studies import origin, read_study


def test_the_carried_rows_are_those_of_the_ladder():
    rows = json.loads(Path(LADDER).read_text(encoding="utf-8"))
    assert read_study("ladder") == [carried(row) for row in rows]


def test_where_they_come_from_is_told_in_a_line():
    rows = [row for row in read_study("ladder") if row["setting"] == "captions-rotary"]
    assert origin(rows).startswith("`python benchmarks/ladder.py captions-rotary --seeds 0 1 2`")
