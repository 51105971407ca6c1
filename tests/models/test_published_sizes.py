"""The sizes of published models: their sources, and the training compute that the reports state."""

from pathlib import Path

import pytest
from pybtex.database import parse_string

from gates2heads.models.costs import LLAMA2_70B as COUNTED
from gates2heads.models.published_sizes import (
    BERT_LARGE,
    CHINCHILLA,
    DEEPSEEK_V3,
    GOPHER,
    GPT,
    GPT2,
    GPT3,
    LLAMA2_70B,
    LLAMA3_405B,
    PALM,
    PUBLISHED_SIZES,
    T5_11B,
    PublishedModel,
)

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = parse_string((ROOT / "references.bib").read_text("utf-8"), "bibtex").entries
KINDS = {"encoder", "encoder–decoder", "decoder", "mixture of experts"}


def test_by_hand():
    one = PublishedModel("A", 2020, 7, "decoder", 10, 4, "all", "a", "b", tokens=30)
    assert (one.per_token, one.ratio, one.compute, one.date) == (10, 3, 1800, 2020.5)
    sparse = one._replace(used=5)
    assert (sparse.per_token, sparse.ratio, sparse.compute) == (5, 6, 900)
    unknown = one._replace(tokens=None)
    assert unknown.ratio is unknown.compute is None


@pytest.mark.parametrize("model", PUBLISHED_SIZES, ids=lambda one: one.name)
def test_every_source_is_in_the_bibliography(model):
    assert ENTRIES[model.source].fields["url"] == model.url


@pytest.mark.parametrize("model", PUBLISHED_SIZES, ids=lambda one: one.name)
def test_every_row_is_plausible(model):
    assert model.kind in KINDS
    assert 1 <= model.month <= 12
    assert 10**8 < model.parameters < 10**12
    assert model.tokens is None or 10**11 < model.tokens < 10**14
    assert model.per_token <= model.parameters
    assert (model.used is None) == (model.kind in {"encoder", "decoder"})
    if "arxiv.org" in model.url:  # its number begins with the year and the month
        number = model.url.rpartition("/")[2]
        assert number[:4] == f"{model.year % 100:02}{model.month:02}"


def test_the_rows_are_in_the_order_of_their_dates():
    dates = [model.date for model in PUBLISHED_SIZES]
    assert dates == sorted(dates)
    assert len({model.name for model in PUBLISHED_SIZES}) == len(PUBLISHED_SIZES)


@pytest.mark.parametrize(
    ("model", "stated"),
    [(GPT3, 3.14e23), (T5_11B, 3.3e22), (PALM, 2.56e24), (LLAMA3_405B, 3.8e25)],
    ids=lambda one: getattr(one, "name", None),
)
def test_the_estimate_agrees_with_what_the_reports_state(model, stated):
    assert model.compute == pytest.approx(stated, rel=0.02)


def test_what_the_reports_say_in_words():
    # the same budget, a quarter of the parameters, more than four times the tokens
    assert CHINCHILLA.compute == pytest.approx(GOPHER.compute, rel=0.2)
    assert CHINCHILLA.parameters == GOPHER.parameters / 4
    assert CHINCHILLA.ratio == 20
    # “almost 50 times” the compute of the largest Llama 2
    assert 40 < LLAMA3_405B.compute / LLAMA2_70B.compute < 50
    assert LLAMA2_70B.parameters == pytest.approx(COUNTED.parameters, rel=0.02)
    assert LLAMA2_70B.context == COUNTED.max_length
    assert DEEPSEEK_V3.compute < LLAMA3_405B.compute / 10
    # 40 epochs of 3.3 billion words
    assert BERT_LARGE.at_most
    assert BERT_LARGE.tokens == pytest.approx(40 * 3.3e9, rel=0.01)


def test_unknown_tokens_are_not_invented():
    assert [model.name for model in PUBLISHED_SIZES if model.tokens is None] == [
        GPT.name,
        GPT2.name,
    ]
