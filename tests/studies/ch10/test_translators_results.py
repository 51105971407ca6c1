"""The stored ladder: every rung, what repeats it, and each above what is published for its like."""

import pytest

from gates2heads.data.corpora.multi30k import multi30k
from gates2heads.metrics.bleu import corpus_bleu
from gates2heads.training.recipes.recipe import read_recipe
from studies.ch10.translators import PUBLISHED, RUNGS, WIDTHS, place_of, read_written, study
from tests.needs import needs_data

ROWS = study().rows()
RUNS = [(row["setting"], row["seed"]) for row in ROWS]
# What these wrote is kept: all runs of three rungs, and the first of every other. The further runs
# are older than the keeping, and have no file.
WHOLE = ("captions-rnn", "captions-universal", "captions-at-once")
KEPT = [run for run in RUNS if run[0] in WHOLE or run[1] == 0]
WRITTEN = [run for run in RUNS if place_of(*run).is_file()]


def test_every_rung_ran_three_times_and_no_run_is_there_twice():
    wanted = {(recipe, seed) for recipe in RUNGS for seed in (0, 1, 2)}
    assert len(RUNS) == len(set(RUNS))
    late = {("captions-lstm-context", seed) for seed in (1, 2)}  # may come one by one
    assert wanted - late <= set(RUNS) <= wanted


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['setting']}-{row['seed']}")
def test_a_row_tells_what_can_be_repeated(row):
    recipe, seed, told = row["setting"], row["seed"], row["result"]
    assert told["command"] == f"python -m gates2heads train {recipe} --set seed={seed}"
    training = read_recipe(recipe)["training"]
    steps, every = training["steps"], training["evaluate_every"]
    assert list(map(int, told["validation"])) == [*range(every, steps, every), steps]
    assert {"device", "threads", "precision"} <= row["machine"].keys()
    assert row["seconds"] > 0
    assert "tok:13a" in told["signature"]
    assert "case:mixed" in told["signature"]
    forced, free = told["perplexity"], told["perplexity_free_running"]
    if recipe == "captions-at-once":  # reads no token: neither the true ones nor its own
        assert free == pytest.approx(forced, rel=1e-4)
    else:
        assert forced < free
    assert forced > 1
    for score in told["test"].values():
        assert 0 < score["bleu"] <= score["bleu_lower_case"] < score["chrf"] < 100
    assert len(told["translations"]) == 10
    assert all(one["translation"] for one in told["translations"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['setting']}-{row['seed']}")
def test_each_run_beats_what_is_published(row):
    assert row["result"]["test"]["width 5"]["bleu_lower_case"] > PUBLISHED.get(row["setting"], 0)


def test_each_run_with_rotary_positions_beats_each_with_sinusoids_alone():
    with_rotary, without = (
        [row["result"]["test"]["width 5"]["bleu"] for row in ROWS if row["setting"] == recipe]
        for recipe in ("captions-rotary", "captions-transformer")
    )
    assert min(with_rotary) > max(without)


def test_every_run_with_attention_that_writes_in_turn_beats_every_run_without():
    scores = {False: [], True: []}
    for row in ROWS:
        attends = RUNGS[row["setting"]].attention
        if row["setting"] != "captions-at-once":
            scores[attends].append(row["result"]["test"]["width 5"]["bleu"])
    assert min(scores[True]) > max(scores[False])


def test_what_runs_wrote_is_there_and_nothing_else():
    assert set(WRITTEN) >= set(KEPT)
    strays = set(place_of("captions-rnn", 0).parent.glob("*")) - {place_of(*run) for run in WRITTEN}
    assert not strays


@pytest.mark.parametrize(("recipe", "seed"), WRITTEN)
def test_what_a_run_wrote_is_a_text_for_each_caption_and_width_and_small(recipe, seed):
    written = read_written(recipe, seed)
    assert len(written) == 1000
    assert {len(each) for each in written} == {len(WIDTHS)}
    assert all(isinstance(text, str) for each in written for text in each)
    (row,) = (row for row in ROWS if (row["setting"], row["seed"]) == (recipe, seed))
    shown = [each[-1] for each in written[::100]]
    assert shown == [one["translation"] for one in row["result"]["translations"]]
    assert place_of(recipe, seed).stat().st_size < 50_000


@needs_data
@pytest.mark.parametrize(("recipe", "seed"), WRITTEN)
def test_what_a_run_wrote_has_the_score_that_is_stored(recipe, seed):
    (row,) = (row for row in ROWS if (row["setting"], row["seed"]) == (recipe, seed))
    references = [[pair.english] for pair in multi30k("test")]
    for width, texts in zip(WIDTHS, zip(*read_written(recipe, seed), strict=True), strict=True):
        found = corpus_bleu(list(texts), references).score
        assert found == pytest.approx(row["result"]["test"][f"width {width}"]["bleu"], abs=1e-9)
