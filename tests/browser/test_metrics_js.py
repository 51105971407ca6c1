"""The metrics of the page, equal to the library's on texts that metrics stumble over."""

import random

import pytest

from gates2heads.metrics.bleu import Bleu, brevity_penalty
from gates2heads.metrics.chrf import sentence_chrf
from gates2heads.metrics.ngrams import clipped_matches, count_ngrams, most_in_any
from gates2heads.metrics.rouge import common_subsequence, rouge_l, rouge_n
from gates2heads.metrics.sentences import TOKENIZERS, cut
from gates2heads.metrics.smoothing import SMOOTHING, modified_precisions
from tests.javascript import LIBRARY, run_javascript
from tests.metrics.conftest import Texts

METRICS = LIBRARY / "browser" / "metrics"
MODULES = {
    name: METRICS / f"{name}.js"
    for name in ("ngrams", "sentences", "smoothing", "bleu", "chrf", "rouge")
}
PAIRS = 700


def in_node(body, given):
    return run_javascript(body, MODULES, given)


@pytest.fixture(scope="module")
def pairs():
    source = Texts(9)
    return [source.hypothesis_and_references(most=17) for _ in range(PAIRS)]


def test_every_tokenizer_cuts_as_the_librarys_does(pairs):
    texts = [text for hypothesis, references in pairs for text in (hypothesis, *references)]
    texts += [
        "",
        " ",
        "\ufeff a\u0085b\x1cc",
        "ΑΣ ΣΑΣ. İSTANBUL K",
        "👍.,5 ٣.٣ ²,²",
        "&amp;lt;-\n-\n x",
    ]
    for lowercase in (False, True):
        told = in_node(
            "return given.names.map((name) => given.texts.map((text) =>"
            " sentences.cut(text, name, { lowercase: given.lowercase })));",
            {"names": list(TOKENIZERS), "texts": texts, "lowercase": lowercase},
        )
        for name, some in zip(TOKENIZERS, told, strict=True):
            for text, found in zip(texts, some, strict=True):
                assert found == list(cut(text, name, lowercase=lowercase)), (name, text)


def test_bleu_is_the_librarys_under_every_setting(pairs):
    draw = random.Random(3)
    cases, wanted = [], []
    for hypothesis, references in pairs * 2:
        smooth = draw.choice(list(SMOOTHING))
        value = draw.choice([None, 0.25, 2.0]) if SMOOTHING[smooth] is not None else None
        one = Bleu(
            max_ngram_order=draw.choice([1, 2, 4, 4, 5]),
            tokenize=draw.choice(list(TOKENIZERS)),
            lowercase=draw.random() < 0.3,
            smooth_method=smooth,
            smooth_value=value,
            effective_order=draw.random() < 0.7,
        )
        options = {
            "maxOrder": one.max_ngram_order,
            "tokenize": one.tokenize,
            "lowercase": one.lowercase,
            "smooth": smooth,
            "effectiveOrder": one.effective_order,
            **({} if value is None else {"smoothValue": value}),
        }
        cases.append([hypothesis, references, options])
        wanted.append(one.sentence(hypothesis, references))
    told = in_node("return given.map((one) => bleu.sentenceBleu(...one));", cases)
    assert sum(0 < one.score < 100 for one in wanted) > 500
    for case, found, right in zip(cases, told, wanted, strict=True):
        assert found["score"] == pytest.approx(right.score, abs=1e-9), case
        assert found["precisions"] == pytest.approx(right.precisions, abs=1e-9), case
        assert (found["matches"], found["totals"]) == (list(right.matches), list(right.totals))
        assert found["penalty"] == pytest.approx(right.brevity_penalty, abs=1e-12)
        lengths = found["hypothesisLength"], found["referenceLength"]
        assert lengths == (right.hypothesis_length, right.reference_length)


def test_chrf_is_the_librarys(pairs):
    draw = random.Random(4)
    cases, wanted = [], []
    for hypothesis, references in pairs:
        setting = {
            "char_order": draw.choice([6, 6, 1, 3]),
            "word_order": draw.choice([0, 2]),
            "beta": draw.choice([2, 1, 3]),
            "lowercase": draw.random() < 0.3,
        }
        names = ("charOrder", "wordOrder", "beta", "lowercase")
        cases.append([hypothesis, references, dict(zip(names, setting.values(), strict=True))])
        wanted.append(sentence_chrf(hypothesis, references, **setting))
    told = in_node("return given.map((one) => chrf.sentenceChrf(...one));", cases)
    assert sum(0 < one.score < 100 for one in wanted) > 300
    for case, found, right in zip(cases, told, wanted, strict=True):
        assert found["score"] == pytest.approx(right.score, abs=1e-9), case
        assert found["precision"] == pytest.approx(right.precision, abs=1e-9), case
        assert found["recall"] == pytest.approx(right.recall, abs=1e-9), case


def test_rouge_is_the_librarys(pairs):
    draw = random.Random(5)
    cases, wanted = [], []
    for hypothesis, references in pairs:
        tokenize = draw.choice(list(TOKENIZERS))
        order, pooling = draw.choice([1, 2, 3]), draw.choice(["best", "pooled"])
        cases.append([hypothesis, references, order, {"tokenize": tokenize, "pooling": pooling}])
        wanted.append(
            (
                rouge_n(hypothesis, references, order, pooling=pooling, tokenize=tokenize),
                rouge_l(hypothesis, references, tokenize=tokenize),
            )
        )
    told = in_node(
        "return given.map(([hypothesis, references, order, options]) =>"
        " [rouge.rougeN(hypothesis, references, order, options),"
        " rouge.rougeL(hypothesis, references, options)]);",
        cases,
    )
    assert sum(0 < n.f_measure < 1 for n, _ in wanted) > 300
    for case, found, right in zip(cases, told, wanted, strict=True):
        for one, two in zip(found, right, strict=True):
            assert list(one.values()) == pytest.approx(list(two), abs=1e-12), case


def test_the_same_common_subsequence_is_found(pairs):
    cut_pairs = [(cut(refs[0], "none"), cut(text, "none")) for text, refs in pairs]
    told = in_node("return given.map((pair) => rouge.commonSubsequence(...pair));", cut_pairs)
    assert any(len(found) > 2 for found in told)
    for (reference, hypothesis), found in zip(cut_pairs, told, strict=True):
        assert [place for place, _ in found] == common_subsequence(reference, hypothesis)
        assert all(reference[i] == hypothesis[j] for i, j in found)
        assert sorted(j for _, j in found) == [j for _, j in found]


def test_fates_of_ngrams_by_hand():
    told = in_node(
        "const counters = given.references.map((one) => ngrams.countNgrams(one, 1));"
        "const ceiling = ngrams.mostInAny(counters);"
        "return [ngrams.fates(given.tokens, 1, ceiling),"
        " ngrams.clippedMatches(given.tokens, 1, ceiling)];",
        {"tokens": list("aaaxb"), "references": [list("aab"), list("abb")]},
    )
    # a may match twice, as in the first reference; b once was asked for
    assert told == [["match", "match", "clipped", "miss", "match"], 3]
    ceiling = most_in_any(count_ngrams(one, 1) for one in ("aab", "abb"))
    assert clipped_matches("aaaxb", 1, ceiling) == 3


def test_penalty_and_smoothing_are_the_librarys():
    lengths = [(x, s) for x in range(7) for s in range(7)]
    told = in_node("return given.map((pair) => bleu.brevityPenalty(...pair));", lengths)
    assert told == pytest.approx([brevity_penalty(*pair) for pair in lengths], abs=1e-12)
    draw = random.Random(6)
    cases = []
    for _ in range(300):
        totals = sorted((draw.randint(0, 5) for _ in range(4)), reverse=True)
        matches = [draw.randint(0, total) for total in totals]
        cases.append([matches, totals, draw.choice(list(SMOOTHING))])
    told = in_node("return given.map((one) => smoothing.modifiedPrecisions(...one));", cases)
    for case, found in zip(cases, told, strict=True):
        assert found == pytest.approx(modified_precisions(*case), abs=1e-9), case
