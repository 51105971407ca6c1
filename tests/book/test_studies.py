"""Studies: a row for each setting and seed, kept whole, not run twice, and readable from a page."""

import json
import re
from pathlib import Path

import pytest

from gates2heads.book import studies
from gates2heads.book.studies import (
    Study,
    origin,
    preferred_setting,
    read_study,
    results_file,
    results_of,
    spread,
    table_of,
)


@pytest.fixture
def ran():
    return []


@pytest.fixture
def study(tmp_path, ran):
    def run(setting, seed):
        ran.append((setting, seed))
        return {"right": 0.5 + seed / 8, "course": [1, 2], "who": setting}

    return Study("ch05/looking", run, ("soft", "hard"), tmp_path)


def test_a_row_tells_all_that_is_behind_a_number(study):
    study.main(["hard", "--seeds", "2"])
    (row,) = json.loads(results_file(study.name, study.folder).read_text(encoding="utf-8"))
    assert row["setting"] == "hard"
    assert row["seed"] == 2
    assert row["command"] == "python -m studies.ch05.looking hard --seeds 2"
    assert row["result"] == {"right": 0.75, "course": [1, 2], "who": "hard"}
    assert row["seconds"] >= 0
    assert row["machine"]["device"]
    assert row["machine"]["threads"] == 1
    assert set(row["versions"]) == {"python", "torch", "gates2heads"}


def test_what_is_stored_is_not_run_again_unless_asked(study, ran, capsys):
    study.main(["--seeds", "1"])
    study.main(["--seeds", "0", "1"])
    assert ran == [("soft", 1), ("hard", 1), ("soft", 0), ("hard", 0)]
    study.main(["soft", "--again"])
    assert ran[-1] == ("soft", 0)
    stored = [(row["setting"], row["seed"]) for row in study.rows()]
    assert stored == [("soft", 0), ("soft", 1), ("hard", 0), ("hard", 1)]
    assert "ch05/looking: hard, seed 1, is stored" in capsys.readouterr().out


def test_an_interrupted_study_keeps_what_it_had(study, ran):
    def broken(setting, seed):
        if setting == "hard":
            raise KeyboardInterrupt
        return study.run(setting, seed)

    with pytest.raises(KeyboardInterrupt):
        Study("ch05/looking", broken, study.settings, study.folder).main([])
    assert [row["setting"] for row in study.rows()] == ["soft"]
    study.main([])
    assert ran == [("soft", 0), ("hard", 0)]
    where = results_file(study.name, study.folder)
    assert [path for path in study.folder.rglob("*.json")] == [where]


def test_the_table_gives_means_and_ranges_and_runs_nothing(study, ran, capsys):
    study.main(["hard", "--seeds", "0", "2"])
    capsys.readouterr()
    before = list(ran)
    study.main(["--table"])
    head, rule, line = capsys.readouterr().out.strip().split("\n")
    assert head == "| setting | seeds | seconds | right |"
    assert rule == "|---|---|---|---|"
    assert line.startswith("| hard | 2 | 0 (0–0) | 0.625 (0.500–0.750) |")
    assert ran == before
    assert table_of([]).count("\n") == 1
    rows = [{"setting": "a", "seconds": 1, "result": {"x": x}} for x in (2, None, 4)]
    assert table_of(rows).endswith("| a | 3 | 1 (1–1) | 3.000 (2.000–4.000), 1 without |")
    assert table_of([*rows[:1], {**rows[1], "setting": "b"}]).endswith(" | 1 without |")


def test_what_the_command_line_does_not_know_is_refused(study, capsys):
    with pytest.raises(SystemExit):
        study.main(["firm"])
    assert "SETTING must" in capsys.readouterr().err
    with pytest.raises(ValueError, match="--seeds must"):
        study.main(["--seeds", str(2**70)])


@pytest.mark.parametrize("result", [{"x": object()}, {"x": float("nan")}, {"x": {1, 2}}])
def test_what_json_cannot_hold_is_refused_and_the_file_kept(study, result):
    study.main(["soft"])
    before = study.rows()
    with pytest.raises(TypeError, match="run must"):
        Study("ch05/looking", lambda *_: result, study.settings, study.folder).main(["hard"])
    assert study.rows() == before


def test_a_page_reads_what_came_with_the_library(study, monkeypatch):
    monkeypatch.setattr(studies, "BOOK", study.folder)
    with pytest.raises(ValueError, match="there is none yet"):
        read_study("ch05/looking")
    study.main([])
    assert read_study("ch05/looking") == study.rows()
    for name in ("ladder", 3, "../looking", "ch05/../ch05/looking"):
        with pytest.raises(
            ValueError, match=r"must be one of the stored studies \(ch05/looking\), got"
        ):
            read_study(name)


def test_an_unknown_name_among_many_is_told_those_like_it():
    with pytest.raises(ValueError, match=r"^name must") as told:
        read_study("ch10/laderboard")
    assert "ch10/leaderboard" in str(told.value)
    assert len(str(told.value)) < 300


def test_a_file_that_no_study_wrote_is_named(study):
    path = results_file(study.name, study.folder)
    path.parent.mkdir(parents=True)
    path.write_text("[")
    with pytest.raises(ValueError, match=r"looking.json has no results of a study"):
        study.rows()


def test_the_origin_is_one_line():
    def row(setting, seed, seconds, device="a Xeon"):
        return {
            "setting": setting,
            "seed": seed,
            "seconds": seconds,
            "command": f"python -m studies.ch05.looking {setting} --seeds {seed}",
            "machine": {"device": device},
        }

    rows = [row("soft", 1, 200), row("hard", 0, 220)]
    assert origin(rows) == "`python -m studies.ch05.looking soft hard --seeds 0 1`, 7 min (a Xeon)"
    assert "python -m studies.ch05.looking 'scaled dot' soft --seeds 3`" in origin(
        [row("scaled dot", 3, 9, "a Xeon"), row("soft", 3, 9, "a Xeon")]
    )
    machines = ("Intel(R) Xeon(R) Processor @ 2.10GHz", "Intel(R) Xeon(R) Processor", "AMD EPYC")
    rows = [row("soft", seed, 9, device) for seed, device in enumerate(machines)]
    assert origin(rows).endswith("--seeds 0 1 2`, 27 s (Intel Xeon, AMD EPYC)")
    assert origin([row("soft", 0, 9, "an H100")]).endswith("9 s (an H100)")


def test_the_preferred_setting_has_the_lowest_validation_loss_of_its_first_run():
    losses = {"gpt2 3e-3": [1.2, 0.1], "gpt2 9e-3": [1.1, 3.0], "gpt2-large 1e-3": [0.5]}
    rows = [
        {"setting": setting, "seed": seed, "result": {"validation": loss, "test": 0.0}}
        for setting, several in losses.items()
        for seed, loss in enumerate(several)
    ]
    assert preferred_setting(rows, "gpt2 ") == "gpt2 9e-3"
    with pytest.raises(ValueError, match="start must begin two or more of the rows' settings"):
        preferred_setting(rows, "gpt2-large ")
    with pytest.raises(ValueError, match="start must "):
        preferred_setting(rows, "")


def test_the_results_of_a_setting_stand_in_the_order_of_the_rows():
    rows = [{"setting": s, "result": {"n": n}} for n, s in enumerate(["soft", "hard", "soft"])]
    assert results_of(rows, "soft") == [{"n": 0}, {"n": 2}]
    with pytest.raises(ValueError, match=r"setting must"):
        results_of(rows, "local")
    with pytest.raises(ValueError, match="there is none"):
        results_of([], "soft")


def test_a_spread_by_hand():
    assert spread([1.0, 2.0, 6.0]) == "3.0 (1.0–6.0)"
    assert spread([2.25], 2) == "2.25"


def test_a_study_is_named_after_its_file():
    scripts = sorted((Path(__file__).parents[2] / "studies").glob("ch*/*.py"))
    assert len(scripts) > 30
    for path in scripts:
        names = re.findall(r"\bStudy\(\s*\"([\w/]+)\"", path.read_text("utf-8"))
        assert all((path.parents[1] / f"{name}.py").is_file() for name in names)
