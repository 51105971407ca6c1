"""The tasks of the command line: their texts, their tokenizers, and what counts as right."""

import json

import pytest
import torch

from gates2heads.data.corpora.splits import SPLITS
from gates2heads.training.cards import build_tokenizer, tell_tokenizer
from gates2heads.training.recipes.tasks import TASKS, CaptionsTask, DatesTask
from tests.needs import needs_data

SMALL = {**DatesTask.data, "train": 7, "validation": 5, "test": 3}


def test_each_split_has_its_size_and_its_own_days():
    task = DatesTask(SMALL)
    splits = {split: task.pairs(split) for split in SPLITS}
    assert {split: len(pairs) for split, pairs in splits.items()} == {
        "train": 7,
        "validation": 5,
        "test": 3,
    }
    days = [{iso for _, iso in pairs} for pairs in splits.values()]
    assert not days[0] & days[2]
    assert not days[1] & days[2]


def test_tokenizers_of_few_pairs_read_every_date():
    task = DatesTask(SMALL)
    source, target = task.tokenizers(task.pairs("train"))
    for text, iso in DatesTask({**SMALL, "test": 499}).pairs("test"):
        assert source.decode(source.encode(text)) == text
        assert target.decode(target.encode(iso)) == iso


def test_tokenizers_of_one_pair_and_one_form_read_every_date():
    """A year of such dates holds every digit; the first of each month would lack six of them."""
    task = DatesTask({**SMALL, "train": 1, "locales": ["en"], "forms": ["full"]})
    source, target = task.tokenizers(task.pairs("train"))
    for text, iso in DatesTask({**task.settings, "test": 199}).pairs("test"):
        assert source.decode(source.encode(text)) == text
        assert target.decode(target.encode(iso)) == iso


def test_score_by_hand():
    # One of two dates is right, letter for letter.
    told = DatesTask(SMALL).score(["2001-02-03", "2001-02-3"], ["2001-02-03", "2001-02-03"])
    assert told == {"exact_match": 0.5}


@pytest.mark.parametrize("task", [DatesTask, pytest.param(CaptionsTask, marks=needs_data)])
def test_every_task_offers_what_runs_ask_for(task):
    made = task({**task.data, "train": 7, "validation": 5, "test": 3})
    pairs = made.pairs("train")
    source, target = made.tokenizers(pairs)
    batch = next(made.batches(pairs, source, target, 997, seed=0))
    assert len(batch) == 7
    assert made.measure in made.score(["a"], ["a"])
    assert batch.target_out.shape[1] <= made.max_length
    for side, text in zip((source, target), pairs[0], strict=True):
        other = build_tokenizer(json.loads(json.dumps(tell_tokenizer(side))))
        assert side.encode(text) == other.encode(text)
        assert side.vocabulary.tokens == other.vocabulary.tokens


def test_tasks_go_by_name():
    assert {"dates": DatesTask, "captions": CaptionsTask} == TASKS


GERMAN = ["Zwei Hunde laufen im Schnee.", "Ein Hund läuft.", "Zwei Kinder spielen im Schnee."]
ENGLISH = ["Two dogs run in snow.", "A dog runs.", "Two children play in snow."]
FEW = {**CaptionsTask.data, "train": 3, "validation": 1, "test": 1, "vocabulary": 300}


def test_captions_share_one_tokenizer():
    task = CaptionsTask(FEW)
    source, target = task.tokenizers(list(zip(GERMAN, ENGLISH, strict=True)))
    assert source is target
    # Below the 300 that were asked for: no pair of neighbours that occurs twice is left.
    assert len(source) == len(source.vocabulary) == 292
    for text in (*GERMAN, *ENGLISH):
        assert source.decode(source.encode(text)) == text


def test_caption_batches_keep_to_the_budget():
    task = CaptionsTask(FEW)
    pairs = list(zip(GERMAN, ENGLISH, strict=True))
    source, target = task.tokenizers(pairs)
    longest = max(len(source.encode(text)) for text in (*GERMAN, *ENGLISH))
    stream = task.batches(pairs, source, target, 2 * longest, seed=3)
    for _ in range(7):
        batch = next(stream)
        assert max(batch.source.numel(), batch.target_in.numel()) <= 2 * longest


def test_captions_split_words_anew_in_each_round_and_the_same_in_each_run():
    task = CaptionsTask({**FEW, "merge_dropout": 0.5})
    pairs = list(zip(GERMAN, ENGLISH, strict=True))
    source, target = task.tokenizers(pairs)

    def rounds(seed):
        stream = task.batches(pairs, source, target, 1_000, seed=seed)  # one batch is one round
        return [next(stream).source for _ in range(4)]

    first = rounds(3)
    for batch in first:
        texts = {source.decode(row) for row in batch.tolist()}
        assert texts == set(GERMAN)
    assert len({str(batch.tolist()) for batch in first}) == 4
    assert all(map(torch.equal, first, rounds(3)))
    assert not torch.equal(first[0], rounds(9)[0])


def test_captions_split_either_side_anew():
    pairs = list(zip(GERMAN, ENGLISH, strict=True))
    for side, text in (("merge_dropout", "source"), ("target_merge_dropout", "target_out")):
        task = CaptionsTask({**FEW, side: 0.5})
        source, target = task.tokenizers(pairs)
        plain = next(CaptionsTask(FEW).batches(pairs, source, target, 1_000, seed=3))
        anew = next(task.batches(pairs, source, target, 1_000, seed=3))
        for name in ("source", "target_out"):
            whole, split = (getattr(one, name).ne(source.pad).sum() for one in (plain, anew))
            assert (split > whole) == (name == text)


def test_captions_are_scored_as_sacrebleu_scores_them():
    sacrebleu = pytest.importorskip("sacrebleu")
    written, wanted = ["A dog runs.", "Two dogs play in the snow ."], ["a dog runs.", ENGLISH[0]]
    told = CaptionsTask(FEW).score(written, wanted)
    assert told["bleu"] == pytest.approx(sacrebleu.corpus_bleu(written, [wanted]).score)
    lower = sacrebleu.corpus_bleu(written, [wanted], lowercase=True)
    assert told["bleu_lower_case"] == pytest.approx(lower.score)
    assert told["chrf"] == pytest.approx(sacrebleu.corpus_chrf(written, [wanted]).score)


def test_captions_refuse_bad_sizes():
    for change, error, message in [
        ({"train": 29_001}, ValueError, r"data\.train must be from 1 to 29000, got 29001"),
        ({"target_merge_dropout": None}, TypeError, r"data\.target_merge_dropout must be a number"),
        ({"merge_dropout": 2}, ValueError, r"data\.merge_dropout must lie in \[0, 1\], got 2"),
        ({"vocabulary": 0}, ValueError, r"data\.vocabulary must be at least 1, got 0"),
    ]:
        with pytest.raises(error, match=message):
            CaptionsTask({**FEW, **change})


def test_bad_input():
    for change, error, message in [
        ({"train": 0}, ValueError, r"data\.train must be from 1 to 1000000, got 0"),
        ({"test": "many"}, TypeError, r"data\.test must be a whole number, got 'many'"),
        ({"locales": ["xx"]}, ValueError, r"data\.locales must hold CLDR names"),
        ({"locales": [3]}, TypeError, r"data\.locales\[0\] must be a string, got 3"),
        ({"locales": "en"}, TypeError, r"data\.locales must be a list, got 'en'"),
        ({"locales": {"en": 3}}, TypeError, r"data\.locales must be a list, got {'en': 3}"),
        ({"locales": []}, ValueError, r"data\.locales must hold at least 1 names, got 0"),
        ({"locales": [""]}, ValueError, r"data\.locales\[0\] must not be empty"),
        ({"forms": ["short"]}, ValueError, r"data\.forms\[0\] must be one of full, .*, got 'sho"),
    ]:
        with pytest.raises(error, match=message):
            DatesTask({**SMALL, **change}).pairs("test")
    for task in (DatesTask, CaptionsTask):
        with pytest.raises(ValueError, match=r"data must hold \w+, .*, but \w+ is missing"):
            task({})
        with pytest.raises(TypeError, match="data must map settings to their values, got None"):
            task(None)
