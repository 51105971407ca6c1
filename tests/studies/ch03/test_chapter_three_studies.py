"""The studies of chapter 3: by hand, a small run, and what is stored."""

import math
from collections import Counter

import pytest
import torch

from gates2heads.book.studies import read_study, results_of
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.corpora.multi30k import multi30k
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.metrics.ngrams import count_ngrams
from gates2heads.models.language.ngram import KneserNey, MaximumLikelihood
from shipping import next_token
from studies.ch03 import (
    dates_gru,
    dates_windows,
    factorisation,
    language_models,
    ngram_samples,
    paired_captions,
    seen_contexts,
    skip_counts,
    two_verbs,
    unseen_ngrams,
    unseen_words,
    vocabulary_sizes,
)
from tests.needs import needs_data

MODELS = ("ngram", "gru", "transformer")


def test_repeated_and_missing_names_by_hand():
    lists = torch.tensor(
        [[3, 4, 5, 6, 7, 2], [3, 3, 3, 6, 7, 2], [4, 4, 5, 5, 6, 2], [3, 4, 5, 6, 2, 0]]
    )
    found = factorisation.counted(lists)
    assert found == {"whole": 0.25, "repeated": (2 + 2) / 4, "missing": (2 + 2 + 1) / 4}


def test_every_list_that_is_drawn_is_whole():
    batch = factorisation.drawn(13, torch.Generator().manual_seed(0))
    assert factorisation.counted(batch.target_out)["whole"] == 1
    assert torch.equal(batch.target_in[:, 1:], batch.target_out[:, :-1])


def test_a_small_run_of_both_ways(monkeypatch):
    monkeypatch.setattr(factorisation, "STEPS", 2)
    monkeypatch.setattr(factorisation, "DRAWS", 7)
    for way in factorisation.SETTINGS:
        result = factorisation.run(way, 0)
        assert 0 <= result["whole"] <= 1
        assert result["bits_per_list"] > 5


@pytest.mark.parametrize("way", factorisation.SETTINGS)
def test_three_seeds_are_stored_and_no_bound_is_beaten(way):
    rows = read_study("ch03/factorisation")
    assert sorted(row["seed"] for row in rows if row["setting"] == way) == [0, 1, 2]
    bound = math.log2(120) if way == "one after the other" else 5 * math.log2(5)
    for run in results_of(rows, way):
        assert bound - 0.01 < run["bits_per_list"] < bound + 0.2


def test_longer_runs_are_rarer():
    rows = read_study("ch03/unseen_ngrams")
    assert [row["setting"] for row in rows] == unseen_ngrams.SETTINGS
    zero = [row["result"]["captions_of_probability_zero"] for row in rows]
    assert zero == sorted(zero)


@pytest.mark.parametrize("name", MODELS)
def test_the_card_of_a_model_names_what_made_it(name):
    model, source, target, decoding, card = shipped(f"captions_{name}")
    assert source is target
    assert isinstance(source, BPETokenizer)
    assert len(source) == model.vocabulary_size == 4000
    assert decoding == {}
    assert card["command"] == f"python -m shipping.next_token {name}"
    assert card["kind"] == type(model).__name__
    if name != "ngram":
        assert card["settings"] == next_token.NETWORKS[name][1]
    assert 4 < card["test_bits_per_token"] < 5.3


def test_no_count_below_two_travels():
    model = shipped("captions_ngram").model
    for size in range(model.order):
        assert getattr(model, f"counts_{size}").min() >= next_token.LEAST == 2


def test_the_longest_context_that_was_met_by_hand():
    end = Vocabulary.eos
    model = MaximumLikelihood([[3, 4, 5, end], [4, 6, end]], 8, 3)
    # Before 4: (<bos>, <bos>), met. Before 5: (<bos>, 4), met in the second text. Before <eos>:
    # (4, 5), met in the first.
    assert seen_contexts.longest_seen(model, [4, 5, end]) == [2, 2, 2]
    # (<bos>, 6) was never met, (6,) was; nothing ever followed (7,).
    assert seen_contexts.longest_seen(model, [6, 7, 3]) == [2, 1, 0]


def test_a_small_run_sorts_every_token_and_adds_up(monkeypatch):
    text = [3 + n % 9 for n in range(7)]
    split = {
        "train": [[*text, Vocabulary.eos], [5, 4, 3, Vocabulary.eos]] * 5,
        "validation": [[3, 4, Vocabulary.eos]],
        "test": [[4, 3, 9, 5, 6, 7, 8, 9, Vocabulary.eos], [*text, Vocabulary.eos]],
    }
    corpus = language_models.Corpus(range(12), split, {}, "made up")
    counted = KneserNey(split["train"], 12, seen_contexts.ORDER)
    network = language_models.build("lstm", 12).eval()
    monkeypatch.setattr(seen_contexts, "read", lambda name: corpus)
    monkeypatch.setattr(seen_contexts, "train", lambda *given: (network, {"rounds": given[-1]}))
    found = seen_contexts.run("docstrings, 4 rounds", 0)
    assert found["rounds"] == found["made"]["rounds"] == 4
    # Four tokens of each of the two texts begin it; the others are sorted.
    assert found["beginnings"]["tokens"] == 8
    assert sum(group["tokens"] for group in found["by_context"]) == 17 - 8
    # Before 6 in the first stood 4 3 9 5, of which training has 5 alone; then one more each time,
    # up to four. In the second all four stand there at once.
    met = {group["met"]: group["tokens"] for group in found["by_context"]}
    assert met == {1: 1, 2: 1, 3: 1, 4: 2 + 4}
    groups = [found["beginnings"], *found["by_context"]]
    for name, model in {"5-gram": counted, "lstm": network}.items():
        whole = sum(group["tokens"] * group[name] for group in groups) / 17
        assert whole == pytest.approx(found["bits_per_token"][name])
        assert whole == pytest.approx(language_models.surprise(model, split["test"]), rel=1e-5)


def test_the_stored_runs_agree_with_the_language_models():
    rows, others = read_study("ch03/seen_contexts"), read_study("ch03/language_models")
    assert [row["setting"] for row in rows] == [*seen_contexts.SETTINGS]
    for row in rows:
        found, (corpus, rounds) = row["result"], seen_contexts.SETTINGS[row["setting"]]
        groups = [found["beginnings"], *found["by_context"]]
        tokens = sum(group["tokens"] for group in groups)
        for name, bits in found["bits_per_token"].items():
            whole = sum(group["tokens"] * group[name] for group in groups) / tokens
            assert whole == pytest.approx(bits, rel=1e-5)
        (grams,) = results_of(others, f"{corpus}-5-gram-kneser-ney")
        assert found["perplexity"]["5-gram"] == pytest.approx(grams["perplexity"], rel=1e-6)
        assert len(found["made"]["evaluated_at"]) == rounds
        if rounds == language_models.ROUNDS[corpus]:  # the same run, on another processor perhaps
            (again,) = (
                one["result"] for one in others
                if (one["setting"], one["seed"]) == (f"{corpus}-lstm", row["seed"])
            )  # fmt: skip
            assert found["perplexity"]["lstm"] == pytest.approx(again["perplexity"], rel=0.02)


def _small_captions(monkeypatch, module):
    """Captions of a few words in place of the data, cut into bytes with a few merges."""
    texts = ["A dog runs.", "A dog sleeps.", "Two cats sleep."] * 3
    tokenizer = BPETokenizer.train(texts, 270)
    tokens = {split: tokenizer.encode_all(texts) for split in ("train", "validation", "test")}
    characters = {split: sum(len(text) + 1 for text in texts) for split in tokens}
    corpus = language_models.Corpus(tokenizer, tokens, characters, "small")
    if hasattr(module, "read"):
        monkeypatch.setattr(module, "read", lambda name: corpus)
    if hasattr(module, "texts_of"):
        monkeypatch.setattr(module, "texts_of", lambda name, split: texts)
    return texts


def test_small_samples_are_made_of_what_was_read(monkeypatch):
    _small_captions(monkeypatch, ngram_samples)
    monkeypatch.setattr(ngram_samples, "SAMPLES", 11)
    found = {n: ngram_samples.run(f"order {n}", 0) for n in (1, 4)}
    assert found[4]["runs_seen"] > found[1]["runs_seen"]
    assert 0 <= found[4]["training_captions"] <= 11
    assert len(found[4]["examples"]) == ngram_samples.KEPT


def test_bits_per_byte_by_hand(monkeypatch):
    texts = _small_captions(monkeypatch, vocabulary_sizes)
    found = vocabulary_sizes.run("259 tokens", 0)
    # a byte is a token; a space before and <eos> after each caption
    total = sum(map(len, texts))
    assert found["test_bytes"] == total
    assert found["test_tokens"] == total + 2 * len(texts)
    assert found["bits_per_byte"] == pytest.approx(
        found["bits_per_token"] * found["test_tokens"] / total
    )
    assert found["perplexity"] == pytest.approx(2 ** found["bits_per_token"])


def test_unknown_words_by_hand(monkeypatch):
    texts = {"train": ["A dog runs.", "A cat."], "test": ["A dog sings.", "A cat."]}
    monkeypatch.setattr(unseen_words, "texts_of", lambda name, split: texts[split])
    found = unseen_words.run("all words", 0)
    assert found["vocabulary"] == 5  # A, dog, runs, cat and the full stop
    assert (found["test_words"], found["unknown_words"]) == (7, 1)
    assert found["captions_with_unknown"] == 1
    assert unseen_words.run("five times or more", 0)["unknown_words"] == 7


def test_a_short_run_on_dates(monkeypatch):
    monkeypatch.setattr(dates_gru, "STEPS", 2)
    monkeypatch.setattr(dates_gru, "SHOWN", 2)
    monkeypatch.setattr(dates_gru, "EVERY", 1)
    found = dates_gru.run("rate 0.01", 0)
    assert found["as_shown"] == found["at_the_end"] > found["trigram"] > found["five_gram"]


@pytest.mark.parametrize(
    ("name", "settings", "seeds"),
    [
        ("ngram_samples", ngram_samples.SETTINGS, [0]),
        ("vocabulary_sizes", vocabulary_sizes.SETTINGS, [0]),
        ("unseen_words", list(unseen_words.LEAST), [0]),
        ("dates_gru", list(dates_gru.RATES), [0, 1, 2, 3, 4]),
        ("dates_windows", list(dates_windows.SETTINGS), [0, 1, 2, 3, 4]),
        ("paired_captions", paired_captions.SETTINGS, [0]),
    ],
)
def test_every_setting_of_the_new_studies_is_stored(name, settings, seeds):
    rows = read_study(f"ch03/{name}")
    wanted = [(setting, seed) for setting in settings for seed in seeds]
    assert sorted((row["setting"], row["seed"]) for row in rows) == sorted(wanted)


def test_pairs_that_are_not_in_training_by_hand():
    bos = Vocabulary.bos
    train, texts = [[3, 4, 2], [5, 2]], [[3, 4, 2], [4, 3, 2]]
    # (<bos>, 4), (4, 3) and (3, 2) are absent.
    found = paired_captions.unseen_pairs(train, texts)
    assert found.tolist() == [False, False, False, True, True, True]
    assert bos not in (3, 4, 5)
    model = language_models.AddK(train, 6, 2, k=1)  # 4 tokens can be generated
    bits = paired_captions.bits_for_any_unseen(model, train, texts)
    # after <bos> 2 of 4 tokens are unseen, after 4 and after 3 are 3
    assert (-bits).exp2().tolist() == pytest.approx([2 / 6, 3 / 5, 3 / 5])


def test_counts_at_a_distance_change_the_choice_among_unseen_tokens_alone():
    # Two tokens after 3 comes 6, two tokens after 4 comes 7; neither follows 8 in training.
    train = [[3, 5, 6, 2], [4, 5, 7, 2], [8, 9, 2]] * 5
    base = language_models.KneserNey(train, 10, 2)
    model = skip_counts.SkipCounts(base, train, [[3, 8, 6, 2], [4, 8, 7, 2], [3, 8, 9, 2]])
    assert model.weights[1] > 0.1
    for text in ([3, 8], [4, 8], [3, 5], []):
        probs, plain = model.probs(text), base.probs(text)
        assert probs.sum() == pytest.approx(1)
        seen = list(model.followers[text[-1] if text else Vocabulary.bos])
        torch.testing.assert_close(probs[seen], plain[seen])
    assert base.probs([3, 8])[6] == base.probs([4, 8])[6]
    assert model.probs([3, 8])[6] > 2 * model.probs([4, 8])[6]
    tokens = torch.tensor([[3, 8, 6, 2], [8, 9, 2, 0]])
    mask = tokens != Vocabulary.pad
    found = model.log_probs(tokens, mask=mask)
    by_hand = model.probs([3])[8] * model.probs([3, 8])[6]
    assert found[0, 1] + found[0, 2] == pytest.approx(by_hand.log().item())


def test_another_learning_rate_reaches_the_training(monkeypatch):
    given = []
    monkeypatch.setattr(
        two_verbs, "train", lambda *some, rate: given.append((some[1], rate)) or [None]
    )
    for setting in ("gru", "gru, rate 0.002"):
        two_verbs.make(setting, None, 0)
    assert given == [("gru", None), ("gru", 0.002)]


def test_the_stored_preferences_are_of_every_setting():
    rows = read_study("ch03/two_verbs")
    assert {row["setting"] for row in rows} == {*two_verbs.SETTINGS}
    assert all(len(row["result"]["pairs"]) == len(two_verbs.VERBS) == 15 for row in rows)


def test_a_window_as_long_as_the_text_changes_nothing_and_a_short_one_forgets():
    torch.manual_seed(0)
    network = language_models.build("gru", 12).eval()
    texts = [[3, 4, 5, 6, 7, 2], [8, 2]]
    whole = paired_captions.bits_of(network, texts)
    same = paired_captions.bits_in_windows(network, texts, 6)
    torch.testing.assert_close(same, whole, atol=1e-5, rtol=1e-5)
    changed = [[9, 4, 5, 6, 7, 2], [8, 2]]
    cut, other = (paired_captions.bits_in_windows(network, some, 4) for some in (texts, changed))
    torch.testing.assert_close(cut[5:], other[5:])  # the first token is outside the window
    assert cut[4] != other[4]


def test_a_small_run_compares_a_model_with_the_5_gram(monkeypatch):
    text = [3 + n % 9 for n in range(7)]
    split = {
        "train": [[*text, 2], [5, 4, 3, 2]] * 5,
        "validation": [[3, 4, 2]],
        "test": [[4, 3, 9, 5, 6, 7, 8, 9, 2], [*text, 2], [3, 4, 2]],
    }
    corpus = language_models.Corpus(range(12), split, {}, "made up")
    monkeypatch.setattr(paired_captions, "read", lambda name: corpus)
    monkeypatch.setattr(paired_captions, "RESAMPLES", 50)
    found = paired_captions.run("3-gram-kneser-ney", 0)
    assert found["difference"] == pytest.approx(found["bits_per_token"] - found["of_the_5_gram"])
    assert found["low"] <= found["difference"] <= found["high"]
    new = found["tokens_of_unseen_pairs"] / found["tokens"]
    whole = (1 - new) * found["bits_on_seen_pairs"] + new * found["bits_on_unseen_pairs"]
    assert whole == pytest.approx(found["bits_per_token"])


def test_the_comparison_agrees_with_the_language_models():
    others = read_study("ch03/language_models")
    (five,) = results_of(others, "captions-5-gram-kneser-ney")
    for row in read_study("ch03/paired_captions"):
        assert row["setting"] in paired_captions.SETTINGS
        found = row["result"]
        assert found["of_the_5_gram"] == pytest.approx(five["bits_per_token"], rel=1e-6)
        assert found["low"] < found["difference"] < found["high"]


def test_a_small_run_of_a_window_tells_perplexity_and_form(monkeypatch):
    monkeypatch.setattr(dates_windows, "SHOWN", 1)
    monkeypatch.setattr(dates_windows, "STEPS", 2)
    monkeypatch.setattr(dates_windows, "SAMPLES", 5)
    found = dates_windows.run("window 2", 0)
    assert found["perplexity"] > found["perplexity_at_the_end"] > found["counted"]["perplexity"]
    assert 0 <= found["well_formed"] <= 5
    one_discount = found["counted_with_one_discount"]
    assert one_discount["discount"] in dates_windows.DISCOUNTS
    assert one_discount["perplexity"] < found["counted"]["perplexity"]
    assert found["largest_discount"] > 2


@needs_data
def test_the_zeros_of_the_opening_caption():
    tokenizer = shipped("captions_ngram").source
    a, cat, is_, sleeping, *_ = tokenizer.encode("A cat is sleeping on a chair", eos=False)
    trigrams = Counter()
    for pair in multi30k("train"):
        trigrams.update(count_ngrams(tokenizer.encode(pair.english), 3))
    after_a_cat = sum(count for some, count in trigrams.items() if some[:2] == (a, cat))
    assert (trigrams[a, cat, is_], after_a_cat) == (1, 3)
    assert trigrams[cat, is_, sleeping] == 0
