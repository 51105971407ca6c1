"""BPETokenizer: merges by hand, every text back again, two languages in one vocabulary."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gates2heads.data.tokens.bpe import BPETokenizer

LEAST = 259  # three special tokens and the bytes
ENGLISH = ["the low lower lowest", "a newer low", "the new lower"]
GERMAN = ["das neue Haus", "die neuen Häuser", "das Haus"]


@pytest.fixture(scope="module")
def tokenizer():
    return BPETokenizer.train([*ENGLISH, *GERMAN], 293)


def test_merges_by_hand():
    # The neighbours of " aab aab aab": (space, a) 3, (a, a) 3, (a, b) 3. A tie goes to the pair of
    # smaller numbers, and the space has the last of the byte numbers: (a, a), then (aa, b), then
    # (space, aab).
    texts = ["aab aab aab"]
    assert BPETokenizer.train(texts, LEAST).pieces("aab") == [" ", "a", "a", "b"]
    assert BPETokenizer.train(texts, LEAST + 1).pieces("aab") == [" ", "aa", "b"]
    assert BPETokenizer.train(texts, LEAST + 3).pieces("aab baa") == [" aab", " ", "b", "aa"]


def test_the_first_merges_are_those_of_a_smaller_vocabulary(tokenizer):
    for merges in (0, 1, 7, len(tokenizer.merges)):
        fewer = tokenizer.with_merges(merges)
        wanted = BPETokenizer.train([*ENGLISH, *GERMAN], LEAST + merges)
        assert len(fewer) == LEAST + merges
        assert fewer.merges == wanted.merges
        for text in (*ENGLISH, "das neue low", "日 <eos>"):
            assert fewer.encode(text) == wanted.encode(text)
            assert fewer.decode(fewer.encode(text)) == text


def test_more_merges_than_there_are_get_a_sentence(tokenizer):
    most = len(tokenizer.merges)
    with pytest.raises(ValueError, match="merges must"):
        tokenizer.with_merges(most + 1)


def test_a_size_beyond_all_memory_is_no_more_than_the_texts_fill():
    most = BPETokenizer.train(["ab ab"], 2**31 - 1)
    assert len(most) == len(BPETokenizer.train(["ab ab"], 997)) == LEAST + 2  # ab, " ab"


def test_bytes_that_are_no_character_are_shown_each_by_itself():
    tokenizer = BPETokenizer.train(["a"], LEAST)
    assert tokenizer.pieces("日a") == [" ", "<0xE6>", "<0x97>", "<0xA5>", "a"]
    merged = BPETokenizer.train(
        ["日", "日"], LEAST + 1
    )  # " 日": E6 97 is the first pair of its two
    assert merged.pieces("日") in (
        [" ", "<0xE6><0x97>", "<0xA5>"],
        ["<0x20><0xE6>", "<0x97>", "<0xA5>"],
        [" ", "<0xE6>", "<0x97><0xA5>"],
    )


def test_only_the_space_that_was_put_before_a_text_is_taken_away():
    tokenizer = BPETokenizer.train(["a"], LEAST)
    for text in (" a", "   a", " ", "\ta"):
        assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("read", ["encode", "pieces", "words"])
def test_half_a_character_is_named(tokenizer, read):
    with pytest.raises(ValueError, match=r"text must"):
        getattr(tokenizer, read)("a\ud83d")
    with pytest.raises(ValueError, match=r"texts\[1\] must"):
        BPETokenizer.train(["a", "\udc80"], 300)


def test_a_rare_pair_is_not_merged():
    assert len(BPETokenizer.train(["xyz", "xy"], 997, min_frequency=2)) == LEAST + 2  # " x", " xy"
    assert len(BPETokenizer.train(["xyz", "xy"], 997, min_frequency=3)) == LEAST


@given(st.text(min_size=1, max_size=23))
@example(" ")
@example("  a")
@example("日\x00\u2028")
@example("<eos><pad>")
def test_every_text_comes_back(tokenizer, text):
    numbers = tokenizer.encode(text)
    assert numbers[-1] == tokenizer.eos
    assert tokenizer.decode(numbers) == text
    assert tokenizer.decode([tokenizer.bos, *numbers, 5, tokenizer.pad]) == text
    assert tokenizer.encode(text, eos=False) == numbers[:-1]


def test_a_typed_special_token_is_text(tokenizer):
    numbers = tokenizer.encode("<eos> low", eos=False)
    assert not {tokenizer.pad, tokenizer.bos, tokenizer.eos} & set(numbers)
    assert tokenizer.decode(numbers) == "<eos> low"


def test_pieces_join_to_the_text(tokenizer):
    pieces = tokenizer.pieces("lower Haus")
    assert "".join(pieces) == " lower Haus"
    assert len(pieces) == len(tokenizer.encode("lower Haus", eos=False))


def test_a_joint_vocabulary_knows_words_of_both(tokenizer):
    for word in ("lower", "Haus"):
        assert tokenizer.pieces(word) == [f" {word}"]
    assert len(BPETokenizer.train(ENGLISH, 293).pieces("Haus")) > 1


def test_many_at_once_are_the_single_ones(tokenizer):
    texts = ["low", "das neue Haus", "☃"]
    assert tokenizer.encode_all(texts) == [tokenizer.encode(text) for text in texts]


def test_training_twice_gives_the_same(tokenizer):
    again = BPETokenizer.train([*ENGLISH, *GERMAN], 293)
    assert again.encode_all(ENGLISH + GERMAN) == tokenizer.encode_all(ENGLISH + GERMAN)


def test_save_and_load(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "bpe.json")
    loaded = BPETokenizer.load(tmp_path / "bpe.json")
    assert loaded.encode_all([*ENGLISH, "<eos> 月"]) == tokenizer.encode_all([*ENGLISH, "<eos> 月"])
    assert repr(loaded) == f"BPETokenizer({len(tokenizer)} tokens)"


def test_load_refuses_another_file(tmp_path):
    path = tmp_path / "other.json"
    path.write_text("{}")
    with pytest.raises(ValueError, match="path must"):
        BPETokenizer.load(path)
    from tokenizers import Tokenizer, models

    Tokenizer(models.BPE()).save(str(path))
    with pytest.raises(ValueError, match=r"path must"):
        BPETokenizer.load(path)
    with pytest.raises(FileNotFoundError):
        BPETokenizer.load(tmp_path / "nothing.json")


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda t: t.encode(""), ValueError, "text is empty; it must hold at least one character"),
        (lambda t: t.encode_all(["a", ""]), ValueError, "texts[1] is empty"),
        (lambda t: t.encode_all(["a", "\udc80"]), ValueError, "texts[1] must"),
        (lambda t: t.decode([9999]), ValueError, "numbers holds 9999, but the vocabulary knows 0"),
        (lambda t: BPETokenizer.train([], 300), ValueError, "texts must"),
    ],
)
def test_a_mistake_gets_one_sentence(tokenizer, call, error, sentence):
    with pytest.raises(error) as caught:
        call(tokenizer)
    assert sentence in str(caught.value)


def test_json_and_back(tokenizer):
    again = BPETokenizer.from_json(tokenizer.to_json())
    assert again.encode(GERMAN[1]) == tokenizer.encode(GERMAN[1])
    for text in ("{", "{}", '{"added_tokens": []}', "3"):
        with pytest.raises(ValueError, match="text must"):
            BPETokenizer.from_json(text)


def test_the_vocabulary_shows_what_a_reader_can_read(tokenizer):
    words = tokenizer.vocabulary
    assert len(words) == len(tokenizer)
    assert (words.pad, words.bos, words.eos) == (tokenizer.pad, tokenizer.bos, tokenizer.eos)
    for text in (*ENGLISH, GERMAN[0]):  # without letters of two bytes, which pieces may part
        numbers = tokenizer.encode(text, eos=False)
        assert [words.tokens[number] for number in numbers] == tokenizer.pieces(text)


def test_bytes_that_are_no_character_are_shown_as_numbers():
    # "€" is E2 82 AC in UTF-8, and nothing was merged.
    plain = BPETokenizer.train(["a"], LEAST)
    shown = [plain.vocabulary.tokens[number] for number in plain.encode("€", eos=False)]
    assert shown == [" ", "<0xE2>", "<0x82>", "<0xAC>"]
