"""The study of the units: its labels by hand, its scores on units that are made, what is stored."""

import pytest
import torch

from gates2heads.book.studies import Study
from gates2heads.data.corpora.python.marks import mark_source
from studies.ch01 import bracket_units as study

STUDY = Study("ch01/bracket_units", study.run, study.SETTINGS)
ROWS = {row["setting"]: row["result"] for row in STUDY.rows()}


def test_docstrings_are_no_quotes_by_hand():
    text = "x = 'ab' + \"c\"\n'''d'''\n"
    found = study.in_quotes(text, mark_source(text).string)
    assert "".join("#" if one else "." for one in found) == "....###....##.........."


@pytest.mark.slow
def test_passages_begin_with_nothing_open_and_are_those_of_the_modules():
    first, second = study.half(0), study.half(1)
    assert first.tokens.shape == second.tokens.shape == (study.PASSAGES, study.LENGTH)
    decode = study.tokenizer().decode
    texts = {decode(row) for row in first.tokens.tolist()}
    assert not texts & {decode(row) for row in second.tokens.tolist()}
    for row, depth in zip(first.tokens.tolist()[:20], first.truths["depth"], strict=False):
        text = decode(row)
        assert depth[0] == (text[0] in "([{")  # what opens before the passage is not in it
        closers = [place for place in range(1, study.LENGTH) if depth[place] < depth[place - 1]]
        assert all(text[place] in ")]}" for place in closers)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1, -1])
def test_a_unit_that_counts_is_found_with_its_sign(monkeypatch, sign):
    def made(model, tokens, quantity):
        """Eleven units of noise, but for the fourth, which is the depth with another sign."""
        read = next(half for half in (study.half(0), study.half(1)) if half.tokens is tokens)
        held = torch.randn(tokens.numel(), 11, generator=torch.Generator().manual_seed(0))
        held[:, 3] = sign * read.truths["depth"].flatten().float()
        return held

    monkeypatch.setattr(study, "states", made)
    found = study.find(None, "cell")
    for name in ("brackets", "depth"):
        assert (found[name]["unit"], found[name]["sign"]) == (3, sign)
        assert found[name]["score"] == pytest.approx(1)
        assert found[name]["chosen_at"] == pytest.approx(1)


@pytest.mark.slow
def test_what_is_stored_belongs_to_the_networks_of_today():
    for cell in study.CELLS:
        trained, untrained = ROWS[cell], ROWS[f"{cell}-untrained"]
        for name in (*study.YES_OR_NO, "indent", "column"):
            assert trained[name] > untrained[name] + 0.1, (cell, name)
            assert trained[name] == trained["found"][name]["score"]
        model = study.network(cell, 0)
        again = study.closing(
            model,
            study.Read(
                study.half(1).tokens[: study.CLAMPED_PASSAGES],
                {name: one[: study.CLAMPED_PASSAGES] for name, one in study.half(1).truths.items()},
            ),
        )
        # Another Python has other modules: near, not equal.
        stored = trained["forgetting"]["free"]
        assert again.others == pytest.approx(stored["others"], abs=0.3)
        assert again.inside > 5 * again.outside
