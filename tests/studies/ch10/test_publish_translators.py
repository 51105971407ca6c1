"""What pages read of the ladder is what the ladder's own file holds."""

from gates2heads.book.studies import Study, origin, read_study, results_file
from studies.ch10 import publish_translators, translators


def test_the_carried_rows_are_those_of_the_ladder(tmp_path, monkeypatch):
    monkeypatch.setattr(publish_translators, "Study", lambda *how: Study(*how, folder=tmp_path))
    publish_translators.main()
    stored = results_file("ch10/translators").read_bytes()
    assert results_file("ch10/translators", tmp_path).read_bytes() == stored
    assert [row["setting"] for row in read_study("ch10/translators")[::3]] == list(
        translators.RUNGS
    )


def test_where_they_come_from_is_told_in_a_line():
    rows = [row for row in read_study("ch10/translators") if row["setting"] == "captions-rotary"]
    assert origin(rows).startswith(
        "`python -m studies.ch10.translators captions-rotary --seeds 0 1 2`"
    )
