"""The engine's tokenizers beside the library's: the same pieces for all, and every text back."""

import random
import sys
from unicodedata import category

import pytest

from gates2heads.browser.engine.describe import letters_and_numerals
from gates2heads.browser.engine.export import export_model
from gates2heads.data.tokens.bilingual import BilingualTokenizer, split_bilingual
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.models.transformer.transformer import Transformer
from tests.browser.engine.in_node import EngineError, entry_of
from tests.javascript import LIBRARY, run_javascript

VOCABULARY = LIBRARY / "browser" / "engine" / "tokens" / "vocabulary.js"
WORDS = ["Ein", "Hund", "the", "dog's", "I'll", "we're", "Häuser", "naïve", "1984", "3,14", "ﬁ"]
HOSTILE = [
    " ", "   ", "\n\n\t x", "a\u0000b", "\u0007\u001b[31m", "😀👩‍👩‍👧‍👦🏳️‍🌈", "שלום עולם",
    "مرحبا ١٢٣",
    "\u202eabc\u202c", "e\u0301\u0302\u0303" * 20, "\ufeffBOM", "x\u0085y", "a\u00a0b",
    "\u2028\u2029",
    "<eos><bos><pad>", "<script>alert(1)</script>", "../../etc/passwd", "\U0010ffff\ue000", "½ Ⅻ ²",
    "'s 't 're 've 'm 'll 'd 'S", "日本語と한국어", "ᚠᛇᚻ", "a" * 5000, "äöü" * 999,
    " " * 3001, "1" * 997,
    "a b" * 1500, "\U000e0001\U000e007f", "\u0378\u0379", "𝒜𝟙", "\x7f\x80\x9f", "ǅ ʰ ª º",
    "'", "''s",
]  # fmt: skip


def draw_text(draw):
    """Words, spaces, and code points from anywhere, in any order."""
    parts = []
    for _ in range(draw.randrange(1, 12)):
        kind = draw.randrange(5)
        if kind == 0:
            parts.append(draw.choice(WORDS))
        elif kind == 1:
            parts.append(draw.choice([" ", "  ", "\n", "\t ", ".", "'", "-", "\u3000"]))
        elif kind == 2:
            parts.append(chr(draw.choice([*range(1, 0xD800), *range(0xE000, 0x3000 + 0xE000)])))
        elif kind == 3:
            parts.append(chr(draw.randrange(0x10000, sys.maxunicode + 1)))
        else:
            parts.append(
                "".join(chr(draw.randrange(1, 0x250)) for _ in range(draw.randrange(1, 9)))
            )
    return "".join(parts)


@pytest.mark.parametrize("count", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_pairs_are_merged_as_in_the_library(node, translator, trained, count):
    draw = random.Random(count)
    texts = [*HOSTILE, *(draw_text(draw) for _ in range(count))]
    expected = trained.source.encode_all(texts)
    found = node.one("encode", key=translator, texts=texts)
    assert [
        text for text, *pair in zip(texts, found, expected, strict=True) if pair[0] != pair[1]
    ] == []
    back = node.one("decode", key=translator, lists=found)
    assert back == texts == [trained.source.decode(numbers) for numbers in expected]


def test_any_numbers_decode_alike(node, translator, trained):
    draw = random.Random(1)
    size = len(trained.target)
    lists = [[draw.randrange(size) for _ in range(draw.randrange(13))] for _ in range(300)]
    lists += [
        [draw.randrange(3, 259) for _ in range(7)] for _ in range(300)
    ]  # bytes that are no text
    expected = [trained.target.decode(numbers) for numbers in lists]
    assert node.one("decode", key=translator, lists=lists, side="target") == expected


def test_the_tokens_read_alike(node, translator, trained):
    assert node.one("tokens", key=translator) == trained.source.vocabulary.tokens


def test_half_a_pair_is_read_as_the_mark_of_what_is_lost(node, translator, trained):
    texts = ["a\ud800b", "\udfff", "\udc00\ud800", "x\ud83d"]
    whole = [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts]
    assert node.one("encode", key=translator, texts=texts) == trained.source.encode_all(whole)


def test_a_very_long_word_is_no_trap(node, translator, trained):
    text = "".join(random.Random(2).choices("abcdefgh", k=200_000))
    assert node.one("encode", key=translator, texts=[text])[0] == trained.source.encode(text)


@pytest.mark.slow
def test_every_code_point_is_cut_alike(node, translator, trained):
    points = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point < 0xE000]
    texts = [
        "".join(f"a{one}1{one}\n" for one in points[i : i + 500])
        for i in range(0, len(points), 500)
    ]
    found = node.one("encode", key=translator, texts=texts)
    for text, numbers in zip(texts, found, strict=True):
        assert numbers == trained.source.encode(text)


def test_ranges_hold_what_they_name():
    letters, numerals = ({*expand(ranges)} for ranges in letters_and_numerals())
    assert {ord(one) for one in "aZäßλжあ中\U00020000"} <= letters
    assert {ord(one) for one in "09²½Ⅻ١"} <= numerals
    assert not letters & numerals
    assert not {ord(one) for one in " '_.\n\u0301😀"} & (letters | numerals)


def expand(ranges):
    for first, last in zip(ranges[::2], ranges[1::2], strict=True):
        yield from range(first, last + 1)


@pytest.fixture(scope="module")
def sides(node):
    """A model of no matter, between two alphabets, and between two small byte-pair encodings."""
    made = {
        "characters": (
            CharacterTokenizer.from_texts(["ab 😀ä"]),
            CharacterTokenizer.from_texts(["0-9"]),
        ),
        "words": (BilingualTokenizer.from_texts(WORDS), CharacterTokenizer.from_texts(["a"])),
        "pairs": (BPETokenizer.train(["aab aab"], 263), BPETokenizer.train(["the low lower"], 293)),
    }
    for key, (source, target) in made.items():
        sizes = (len(source.vocabulary), len(target.vocabulary))
        options = {"num_encoder_layers": 1, "num_decoder_layers": 1, "dim_feedforward": 3}
        model = Transformer(*sizes, d_model=4, nhead=2, **options)
        exported = export_model(model, name=key, source=source, target=target)
        node.one("load", key=key, entry=entry_of(exported))
    return made


@pytest.mark.parametrize("key", ["characters", "pairs"])
def test_each_side_has_its_own_tokens(node, sides, key):
    texts = [["ab ä", "😀 b", "a"], ["0-9", "90"]]
    for side, tokenizer, some in zip(("source", "target"), sides[key], texts, strict=True):
        found = node.one("encode", key=key, side=side, texts=some)
        assert found == [tokenizer.encode(text) for text in some]
        assert node.one("decode", key=key, side=side, lists=found) == some


def assigned(text):
    """Whether this Python's Unicode knows all of a text; what is newer, a browser may know."""
    return all(category(one) != "Cn" for one in text)


@pytest.mark.parametrize("count", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_words_and_signs_are_cut_as_in_the_library(node, sides, count):
    draw, (tokenizer, _) = random.Random(count), sides["words"]
    texts = [*HOSTILE, *(draw_text(draw) for _ in range(count))]
    texts = [text for text in texts if split_bilingual(text) and assigned(text)]
    expected = [tokenizer.encode(text) for text in texts]
    found = node.one("encode", key="words", texts=texts)
    pairs = zip(texts, found, expected, strict=True)
    assert [text for text, one, other in pairs if one != other] == []
    wanted = [tokenizer.decode(numbers) for numbers in expected]
    assert node.one("decode", key="words", lists=expected) == wanted


def test_a_text_ends_at_its_first_end_by_hand():
    body = """
      const known = new words.Vocabulary(["a", "b", "c"]);
      const told = (numbers) => {
        try { return words.textNumbers(numbers, known); } catch (error) { return error.message; }
      };
      return given.map(told);
    """
    # <pad> 0, <bos> 1, <eos> 2, a 3, b 4, c 5
    lists = [[1, 3, 0, 5, 2, 4, 3], [2, 3], [4, 1, 4], [], [3, 6], [-1], [1.5]]
    known = "but the vocabulary knows 0 to 5"
    assert run_javascript(body, {"words": VOCABULARY}, lists) == [
        *([3, 5], [], [4, 4], []),
        *(f"numbers holds {number}, {known}" for number in (6, -1, 1.5)),
    ]


def test_a_refusal_carries_its_data():
    body = """
      const tried = (act) => { try { return act(); } catch (error) { return error.refused; } };
      const tokenizer = new characters.CharacterTokenizer({ tokens: ["a", "b"] });
      return [tried(() => tokenizer.encode("caab☃")), tried(() => tokenizer.encode("")) ?? null,
        tried(() => checks.checkTokens("tokens", [3, 3, 3], 5, { most: 2 })),
        tried(() => checks.checkTokens("tokens", [3, 9], 5, { most: 2 })) ?? null];
    """
    modules = {
        "characters": LIBRARY / "browser" / "engine" / "tokens" / "characters.js",
        "checks": LIBRARY / "browser" / "engine" / "models" / "checks.js",
    }
    unseen, empty, long, unknown = run_javascript(body, modules)
    assert (unseen, long) == ({"unseen": ["c", "☃"]}, {"most": 2, "length": 3})
    assert empty is unknown is None


def test_refusals_are_one_sentence(node, sides):
    requests = [{"op": "encode", "key": "characters", "texts": [text]} for text in ("", "xaöä", 3)]
    requests += [{"op": "encode", "key": "words", "texts": [" "]}]
    requests += [{"op": "decode", "key": key, "lists": [[99999]]} for key in sides]
    answers = node.ask(requests)
    assert all(isinstance(answer, EngineError) for answer in answers)
    words = len(sides["words"][0].vocabulary) - 1
    assert [str(answer) for answer in answers] == [
        "text is empty; it must hold at least one character",
        "text holds “x”, “ö”, which this model never saw",
        "text must be a string, got number",
        "text must hold at least one word or character",
        "numbers holds 99999, but the vocabulary knows 0 to 7",
        f"numbers holds 99999, but the vocabulary knows 0 to {words}",
        "numbers holds 99999, but the vocabulary knows 0 to 261",
    ]
