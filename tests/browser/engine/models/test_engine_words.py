"""Word vectors in the page and in the library: the same neighbours, differences and maps."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.browser.engine.export import export_model
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.metrics.words.questions import ask_words, flat_map
from gates2heads.metrics.words.vectors import WordVectors
from gates2heads.models.words.subword import character_ngrams, fnv_hash
from gates2heads.models.words.subword_table import SubwordTable
from gates2heads.models.words.table import WordTable
from tests.browser.engine.in_node import EngineError, entry_of

ROUNDING = 2e-5
SHIPPED = ("words_skip_gram", "words_cbow", "words_glove", "words_subword")
LETTERS = "abcdeéß狗🙂"


def check_answer(theirs, ours):
    """The page's answer is the library's, up to the rounding of float32."""
    assert tuple(theirs["asked"]) == ours.asked
    np.testing.assert_allclose(theirs["cosines"], ours.cosines, atol=ROUNDING)
    assert len(theirs["found"]) == len(ours.found)
    for mine, yours in zip(theirs["found"], ours.found, strict=True):
        np.testing.assert_allclose([x for _, x in mine], [x for _, x in yours], atol=ROUNDING)
        cosines = dict(yours)
        for place, (word, cosine) in enumerate(mine):
            # two words may change places only where their cosines are the same to rounding
            assert word == yours[place][0] or abs(cosines.get(word, cosine) - cosine) < ROUNDING
    if theirs["points"] != list(ours.points):
        return False
    np.testing.assert_allclose(theirs["shares"], ours.shares, atol=1e-4)
    if ours.shares[1] < 1e-3 or ours.shares[0] - ours.shares[1] < 1e-2:
        return False  # which axis is the first hangs on rounding
    mine, yours = np.array(theirs["places"]), ours.places.numpy()
    for axis in (0, 1):  # of two points equally far out, either may fix the sign
        other = yours[:, axis] * np.sign(mine[:, axis] @ yours[:, axis])
        np.testing.assert_allclose(mine[:, axis], other, atol=0.02 * np.abs(yours).max())
    return True


@pytest.mark.slow
def test_hundreds_of_random_tables_answer_alike(node):
    generator, maps = torch.Generator().manual_seed(7), 0
    for number in range(60):
        size, width = 5 + int(torch.randint(90, (), generator=generator)), 3 + number % 29
        vectors = torch.randn(size, width, generator=generator)
        table = WordTable.of([f"w{n}" for n in range(size)], torch.ones(size), vectors)
        exported = export_model(table, name="t", small=number % 2 == 0)
        node.one("load", key="t", entry=entry_of(exported), verify=True, fast=number % 3 == 0)
        if number % 2 == 0:  # what one byte a number makes of it
            scale = vectors.abs().amax(1, keepdim=True) / 127
            vectors = (vectors / scale).round() * scale
        known, requests, wanted = WordVectors(table.words, vectors), [], []
        for asked in (1, 2, 3, 1, 2, 3):
            chosen = torch.randperm(size, generator=generator)[:asked].tolist()
            options = {"count": 1 + int(torch.randint(12, (), generator=generator))}
            options["exclude"] = bool(torch.rand((), generator=generator) < 0.5)
            words = [f"w{n}" for n in chosen]
            requests.append({"op": "askWords", "key": "t", "words": words, "options": options})
            wanted.append(ask_words(known, words, **options))
        for theirs, ours in zip(node.ask(requests), wanted, strict=True):
            assert not isinstance(theirs, EngineError), theirs
            maps += check_answer(theirs, ours)
    assert maps > 180  # of 360


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_vectors_answer_alike(node, name):
    exported = live_model(name)
    node.one("load", key=name, entry=entry_of(exported), verify=True, fast=True)
    known = shipped(name).model.compared()
    generator = torch.Generator().manual_seed(5)
    requests, wanted = [], []
    for number in range(60):
        chosen = torch.randperm(len(known.words), generator=generator)[: 1 + number % 3]
        words = [known.words[n] for n in chosen.tolist()]
        options = {"count": 8, "exclude": number % 2 == 0}
        requests.append({"op": "askWords", "key": name, "words": words, "options": options})
        wanted.append(ask_words(known, words, **options))
    answers = zip(node.ask(requests), wanted, strict=True)
    assert sum(check_answer(theirs, ours) for theirs, ours in answers) > 30  # of 60 maps


def random_words(generator, amount):
    """Distinct words of one to nine letters, some of them outside ASCII."""
    found = {}
    while len(found) < amount:
        size = 1 + int(torch.randint(9, (), generator=generator))
        letters = torch.randint(len(LETTERS), (size,), generator=generator).tolist()
        found["".join(LETTERS[n] for n in letters)] = None
    return list(found)


def test_ngrams_and_hashes_are_the_librarys(node):
    words = ["", *random_words(torch.Generator().manual_seed(3), 300)]
    for shortest, longest in ((3, 5), (1, 6), (2, 2)):
        found = node.one("hashedNgrams", words=words, shortest=shortest, longest=longest)
        wanted = [
            [[one, fnv_hash(one)] for one in character_ngrams(word, shortest, longest)]
            for word in words
        ]
        assert found == wanted


def test_random_tables_of_ngrams_answer_alike_for_known_and_unseen_words(node):
    generator, maps, unseen = torch.Generator().manual_seed(11), 0, 0
    for number in range(20):
        everything = random_words(generator, 60)
        words, others = everything[:40], everything[40:]
        own, width = (0, 7, 40)[number % 3], 3 + number
        table = SubwordTable(words, torch.ones(40), width, buckets=50 + number, own=own, longest=4)
        torch.nn.init.normal_(table.vectors.weight, generator=generator)
        exported = export_model(table, name="t")
        node.one("load", key="n", entry=entry_of(exported), verify=True, fast=number % 2 == 0)
        known = table.compared()
        others = [word for word in others if word in known]
        unseen += len(others)
        shares = node.one("carriedBy", key="n", words=others)
        for word, theirs in zip(others, shares, strict=True):
            ours = known.carried_by(word)
            assert sorted(ngram for ngram, _ in theirs) == sorted(ngram for ngram, _ in ours)
            np.testing.assert_allclose([x for _, x in theirs], [x for _, x in ours], atol=1e-4)
        asked = [others[:1], others[:2], [others[0], words[0], words[1]], words[:2]]
        requests, wanted = [], []
        for one in asked:
            requests.append({"op": "askWords", "key": "n", "words": one, "options": {"count": 6}})
            wanted.append(ask_words(known, one, count=6))
        for theirs, ours in zip(node.ask(requests), wanted, strict=True):
            assert not isinstance(theirs, EngineError), theirs
            maps += check_answer(theirs, ours)
    assert unseen > 200
    assert maps > 40  # of 80


def test_the_page_says_how_an_unseen_word_came_by_its_vector(node):
    node.one("load", key="u", entry=entry_of(live_model("words_subword")), verify=True)
    known = shipped("words_subword").model.compared()
    asked = {"count": 5, "exclude": True}
    told = node.one("askTable", key="u", payload={"text": "Bycicle dog", **asked})
    (one,) = told["unseen"]
    assert one["word"] == "bycicle"
    ours = known.carried_by("bycicle")
    assert [ngram for ngram, _ in one["ngrams"]] == [ngram for ngram, _ in ours]
    np.testing.assert_allclose([x for _, x in one["ngrams"]], [x for _, x in ours], atol=1e-5)
    assert node.one("askTable", key="u", payload={"text": "dog", **asked})["unseen"] == []
    told = node.one("askTable", key="u", payload={"text": "狗狗狗", **asked})
    assert "shares no character n-gram with any of the 8,147 words" in told["refused"]


@given(st.integers(1, 23), st.integers(1, 17), st.integers(0, 10_000))
def test_the_map_keeps_what_it_says_it_keeps(size, width, seed):
    vectors = torch.randn(size, width, generator=torch.Generator().manual_seed(seed))
    places, shares = flat_map(vectors)
    assert places.shape == (size, 2)
    centred = vectors.double() - vectors.double().mean(0)
    spread = centred.square().sum()
    torch.testing.assert_close(places.square().sum(0), shares * spread, atol=1e-6, rtol=1e-6)
    values = torch.linalg.svdvals(centred).square()
    torch.testing.assert_close((shares * spread).sum(), values[:2].sum(), atol=1e-6, rtol=1e-6)


def test_the_view_reads_what_is_typed(node):
    texts = ["Dog", "  man , woman;boy ", "man:woman", "", "don’t", "<b>x</b>", '“dog” "cat"']
    found = node.one("wordsIn", texts=texts)
    assert found == [
        ["dog"],
        ["man", "woman", "boy"],
        ["man", "woman"],
        [],
        ["don't"],
        ["<b>x</b>"],
        ["dog", "cat"],
    ]


def test_the_view_turns_down_with_a_sentence(node):
    node.one("load", key="s", entry=entry_of(live_model("words_skip_gram")), verify=True)
    asked = {"count": 5, "exclude": True}
    refusals = [
        ("a b c d", "You entered 4 words. Enter one, two or three."),
        ("bicyclez", "“bicyclez” is not among the 11,308 words"),
        ("dog dog", "both are “dog”"),
        ("dog dog dog", "all three are “dog”"),
        ("man woman man", "Enter different words; “man” occurs twice."),
        ("%%%", "“%%%” is not among"),
    ]
    for text, sentence in refusals:
        told = node.one("askTable", key="s", payload={"text": text, **asked})
        assert sentence in told["refused"]
    told = node.one("askTable", key="s", payload={"text": "bicyclez", **asked})
    assert "Did you mean “bicycle”, “bicycles”" in told["refused"]
    assert "select" not in told["refused"]
    payload = {"text": "bicyclez", "remedy": "subword", **asked}
    told = node.one("askTable", key="s", payload=payload)
    assert told["refused"].endswith("To give an unseen word a vector, select the subword model.")
    told = node.one("askTable", key="s", payload=payload | {"text": "猫 dog"})
    assert told["refused"].endswith("in the training text.")
    told = node.one("askTable", key="s", payload={"text": "DOG", **asked})
    assert (told["text"], told["asked"]) == ("DOG", ["dog"])
