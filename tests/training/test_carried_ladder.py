"""What pages read of the ladder is what the ladder's own file holds."""

import carry_ladder
import ladder

from gates2heads.training import studies
from gates2heads.training.studies import Study, origin, read_study


def test_the_carried_rows_are_those_of_the_ladder(tmp_path, monkeypatch):
    monkeypatch.setattr(carry_ladder, "Study", lambda *how: Study(*how, folder=tmp_path))
    carry_ladder.main()
    stored = (studies.RESULTS / "ladder.json").read_bytes()
    assert (tmp_path / "ladder.json").read_bytes() == stored
    assert [row["setting"] for row in read_study("ladder")[::3]] == list(ladder.RUNGS)


def test_where_they_come_from_is_told_in_a_line():
    rows = [row for row in read_study("ladder") if row["setting"] == "captions-rotary"]
    assert origin(rows).startswith("`python benchmarks/ladder.py captions-rotary --seeds 0 1 2`")
