"""The "Reproduce" line of a figure or table."""

import pytest

from gates2heads.book import provenance
from gates2heads.book.provenance import reproduce, reproduce_line
from gates2heads.book.studies import read_study


def row(setting="soft", seed=0, seconds=30, device="Intel(R) Xeon(R) Processor"):
    return {
        "setting": setting,
        "seed": seed,
        "seconds": seconds,
        "command": f"python -m shipping.attention_variants {setting} --seeds {seed}",
        "machine": {"device": device},
    }


def test_the_line_has_command_seeds_duration_and_machine():
    assert reproduce_line([row(seed=1, seconds=200), row("hard", seconds=220)]) == (
        "<small>**Reproduce:** `python -m shipping.attention_variants soft hard --seeds 0 1`, "
        "7 min (Intel Xeon)</small>"
    )


def test_several_studies_share_a_line():
    line = reproduce_line([row()], [row(device="an H100")])
    assert line.count("**Reproduce:**") == 1
    assert "30 s (Intel Xeon); `python" in line


def test_it_is_displayed_as_markdown_and_as_text(monkeypatch):
    shown = []
    monkeypatch.setattr(provenance, "display", lambda bundle, raw: shown.append(bundle))
    reproduce([row()])
    (bundle,) = shown
    assert bundle["text/markdown"] == bundle["text/plain"] == reproduce_line([row()])


def test_a_stored_study_has_one():
    assert "python -m studies.ch08.beam_widths" in reproduce_line(read_study("ch08/beam_widths"))


@pytest.mark.parametrize(
    ("studies", "message"),
    [
        ((), "reproduce needs the rows of at least one study, got none"),
        (([],), r"studies\[0\]"),
        (([row()], "soft"), r"studies\[1\]"),
        ((3,), r"studies\[0\]"),
    ],
)
def test_what_is_no_study_is_refused(studies, message):
    with pytest.raises((TypeError, ValueError), match=message):
        reproduce(*studies)
