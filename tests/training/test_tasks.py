"""The tasks of the command line: their texts, their tokenizers, and what counts as right."""

import pytest

from gates2heads.data.corpora import SPLITS
from gates2heads.training.tasks import TASKS, DatesTask

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


def test_a_card_gives_the_same_tokenizers():
    task = DatesTask(SMALL)
    source, target = task.tokenizers(task.pairs("train"))
    again = task.from_card(task.to_card(source, target))
    assert [side.vocabulary.tokens for side in again] == [
        source.vocabulary.tokens,
        target.vocabulary.tokens,
    ]


def test_score_by_hand():
    # One of two dates is right, letter for letter.
    told = DatesTask(SMALL).score(["2001-02-03", "2001-02-3"], ["2001-02-03", "2001-02-03"])
    assert told == {"exact_match": 0.5}


@pytest.mark.parametrize("task", TASKS.values())
def test_every_task_offers_what_runs_ask_for(task):
    made = task({**task.data, "train": 7, "validation": 5, "test": 3})
    pairs = made.pairs("train")
    source, target = made.tokenizers(pairs)
    numbered = [(source.encode(read), target.encode(written)) for read, written in pairs]
    batch = next(made.batches(numbered, made.batch_size, seed=0))
    assert len(batch) == 7
    assert made.measure in made.score(["a"], ["a"])
    assert max(len(written) for _, written in numbered) <= made.max_length


def test_bad_input():
    for change, error, message in [
        ({"train": 0}, ValueError, r"data\.train must be at least 1, got 0"),
        ({"test": "many"}, TypeError, r"data\.test must be a whole number, got 'many'"),
        ({"locales": ["xx"]}, ValueError, r"data\.locales must hold CLDR names"),
        ({"locales": [3]}, TypeError, "identifier: 3"),
        ({"locales": "en"}, TypeError, "locales must be a list of names"),
        ({"forms": ["short"]}, ValueError, "forms must come from"),
    ]:
        with pytest.raises(error, match=message):
            DatesTask({**SMALL, **change}).pairs("test")
    with pytest.raises(
        ValueError, match="split must be one of train, validation, test, got 'exam'"
    ):
        DatesTask(SMALL).pairs("exam")
