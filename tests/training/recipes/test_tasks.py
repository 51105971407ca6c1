"""The tasks of the command line: their texts, their tokenizers, and what counts as right."""

import json

import pytest
import torch

from gates2heads.data.corpora.machine_pairs import pairs_file
from gates2heads.data.corpora.splits import SPLITS
from gates2heads.data.tokens.typed import spelled, tidy
from gates2heads.training.cards import build_tokenizer, serialize_tokenizer
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
        other = build_tokenizer(json.loads(json.dumps(serialize_tokenizer(side))))
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


def test_both_directions_share_one_tokenizer():
    pairs = list(zip(GERMAN, ENGLISH, strict=True))
    turned = [pair[::-1] for pair in pairs]
    german, _ = CaptionsTask(FEW).tokenizers(pairs)
    english, _ = CaptionsTask({**FEW, "reads": "English"}).tokenizers(turned)
    assert german.to_json() == english.to_json()


@needs_data
def test_each_direction_reads_its_language():
    few = {**FEW, "train": 7}
    german, english = CaptionsTask(few), CaptionsTask({**few, "reads": "English"})
    pairs = german.pairs("train")
    assert pairs[0][0].startswith("Zwei junge weiße Männer")
    assert english.pairs("train") == [pair[::-1] for pair in pairs]
    tokenizers = [task.tokenizers(task.pairs("train"))[0].to_json() for task in (german, english)]
    assert tokenizers[0] == tokenizers[1]
    assert str(german) == "Multi30k captions, German to English (Elliott et al. 2016)"
    assert str(english) == "Multi30k captions, English to German (Elliott et al. 2016)"


def test_captions_are_read_as_typed_and_written_as_they_are():
    task, plain = CaptionsTask({**FEW, "as_typed": 1.0}), CaptionsTask(FEW)
    pairs = list(zip(GERMAN, ENGLISH, strict=True))
    source, target = task.tokenizers(pairs)

    def rounds(task, seed):
        stream = task.batches(pairs, source, target, 1_000, seed=seed)
        return [next(stream) for _ in range(3)]

    def texts(batch, side):
        return sorted(source.decode(row) for row in getattr(batch, side).tolist())

    for batch in rounds(task, 3):
        assert texts(batch, "target_out") == sorted(ENGLISH)
        assert not set(texts(batch, "source")) & set(GERMAN)
    assert texts(rounds(plain, 3)[0], "source") == sorted(GERMAN)
    again = zip(rounds(task, 3), rounds(task, 3), strict=True)
    assert all(torch.equal(one.source, other.source) for one, other in again)


MADE = [(f"Hunde {number} rennen.", f"Dogs {number} run.") for number in range(5)]


@pytest.fixture
def made(tmp_path):
    path = tmp_path / "made.gz"
    path.write_bytes(pairs_file(MADE, "by hand"))
    return str(path)


@pytest.mark.parametrize("reads", ["German", "English"])
def test_pairs_by_a_model_join_the_captions(made, reads):
    more = {"reads": reads, "extra": made, "extra_share": 0.4, "extra_mark": "~ "}
    task, step = CaptionsTask({**FEW, **more}), 1 if reads == "German" else -1
    pairs = [pair[::step] for pair in zip(GERMAN, ENGLISH, strict=True)]
    source, target = task.tokenizers(pairs)
    stream = task.batches(pairs, source, target, 1_000, seed=3)  # one batch is one round
    seen = []
    for _ in range(5):
        batch = next(stream)
        read = [source.decode(row) for row in batch.source.tolist()]
        written = [target.decode(row) for row in batch.target_out.tolist()]
        rows = list(zip(read, written, strict=True))
        assert set(pairs) <= set(rows)
        others = set(rows) - set(pairs)
        assert len(rows) == 5  # 3 captions are 60 % of them
        assert len(others) == 2
        seen += others
    marked = [(f"~ {read}", written) for read, written in (pair[::step] for pair in MADE)]
    assert sorted(seen) == sorted(2 * marked)  # each as often as any other
    assert str(task).endswith("(Elliott et al. 2016), and sentence pairs by a model")


def test_no_share_of_pairs_by_a_model_is_none(made):
    pairs = list(zip(GERMAN, ENGLISH, strict=True))
    task = CaptionsTask({**FEW, "extra": made, "extra_share": 0})
    source, target = task.tokenizers(pairs)
    batch = next(task.batches(pairs, source, target, 1_000, seed=3))
    plain = next(CaptionsTask(FEW).batches(pairs, source, target, 1_000, seed=3))
    assert torch.equal(batch.source, plain.source)


def test_a_missing_file_of_pairs_is_told_when_training_begins(tmp_path):
    task = CaptionsTask({**FEW, "extra": str(tmp_path / "none.gz")})  # a card may name it
    pairs = list(zip(GERMAN, ENGLISH, strict=True))
    with pytest.raises(FileNotFoundError, match=r"none\.gz, which is not there"):
        next(task.batches(pairs, *task.tokenizers(pairs), 1_000, seed=3))


def test_each_task_reads_what_is_typed_by_its_own_rule():
    assert DatesTask(SMALL).typed is spelled
    assert CaptionsTask(FEW).typed is tidy


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
        ({"train": 29_001}, ValueError, r"data\.train must"),
        ({"target_merge_dropout": None}, TypeError, r"data\.target_merge_dropout must"),
        ({"merge_dropout": 2}, ValueError, r"data\.merge_dropout must"),
        ({"vocabulary": 0}, ValueError, r"data\.vocabulary must"),
        ({"reads": "Dutch"}, ValueError, r"data\.reads must"),
        ({"as_typed": -1}, ValueError, r"data\.as_typed must"),
        ({"extra": 3}, TypeError, r"data\.extra must"),
        ({"extra": ""}, ValueError, r"data\.extra must"),
        ({"extra_share": 1}, ValueError, r"data\.extra_share must"),
        ({"extra_mark": None}, TypeError, r"data\.extra_mark must"),
    ]:
        with pytest.raises(error, match=message):
            CaptionsTask({**FEW, **change})


def test_bad_input():
    for change, error, message in [
        ({"train": 0}, ValueError, r"data\.train must"),
        ({"test": "many"}, TypeError, r"data\.test must"),
        ({"locales": ["xx"]}, ValueError, r"data\.locales must"),
        ({"locales": [3]}, TypeError, r"data\.locales\[0\] must"),
        ({"locales": "en"}, TypeError, r"data\.locales must"),
        ({"locales": {"en": 3}}, TypeError, r"data\.locales must"),
        ({"locales": []}, ValueError, r"data\.locales must"),
        ({"locales": [""]}, ValueError, r"data\.locales\[0\] must"),
        ({"forms": ["short"]}, ValueError, r"data\.forms\[0\] must"),
    ]:
        with pytest.raises(error, match=message):
            DatesTask({**SMALL, **change}).pairs("test")
    for task in (DatesTask, CaptionsTask):
        with pytest.raises(ValueError, match=r"data must"):
            task({})
        with pytest.raises(TypeError, match="data must"):
            task(None)
