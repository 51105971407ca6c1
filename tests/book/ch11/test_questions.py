"""What counts as right when a name is filled in."""

import pytest
import torch

from gates2heads.book.ch11 import questions as fact_questions
from gates2heads.book.ch11.pretraining import SIZES, fact_tokenizer, untrained
from gates2heads.book.ch11.questions import about_others, fill_names, fill_tokens, guess_names
from gates2heads.data.corpora.cldr_facts import facts
from gates2heads.models.pretraining.by_name import pretraining_model

EVERY = [*facts("train"), *facts("validation"), *facts("test")]


def the_fact(text):
    return next(fact for fact in EVERY if fact.text == text)


FRANC = the_fact("In Switzerland, people pay with the Swiss Franc.")
GERMAN = the_fact("An official language of Switzerland is German.")
CHINESE = the_fact("瑞士的货币是瑞士法郎。")


@pytest.fixture
def filled(monkeypatch):
    """What `fill_names` says of a BERT that fills in given words, whatever it reads."""

    def fill(fact, words):
        numbers = fact_tokenizer().encode(words, eos=False)

        def answer(model, tokens, gaps, **options):
            assert gaps.sum() == len(numbers)
            rows = torch.full((len(numbers), model.vocabulary_size), -9.0)
            rows[:, 0] = 9.0  # the padding, which is no word, must not win
            rows[torch.arange(len(numbers)), numbers] = 0.0
            return rows

        monkeypatch.setattr(fact_questions, "fill_gaps", answer)
        (one,) = fill_names(untrained("bert", 0), [fact])
        return one

    return fill


@pytest.mark.parametrize(
    ("fact", "words", "is_right", "is_name"),
    [
        (FRANC, "Swiss Franc", True, True),
        (FRANC, "Norwegian Krone", False, True),
        (FRANC, "Swiss Krone", False, False),
        (GERMAN, "French", True, True),  # Switzerland has more than one
        (GERMAN, "Danish", False, True),
        (GERMAN, "people", False, False),
        (CHINESE, "瑞士法郎", True, True),
        (CHINESE, "瑞士克朗", False, False),
    ],
)
def test_right_is_what_is_true_and_a_name_is_what_there_is(filled, fact, words, is_right, is_name):
    one = filled(fact, words)
    assert fact_tokenizer().encode(words, eos=False) == [
        fact_tokenizer().vocabulary.index[token] for token in one.written
    ]
    assert (one.is_right, one.is_name) == (is_right, is_name)


@pytest.mark.parametrize("kind", ["gpt", "elmo"])
def test_who_looks_back_goes_on_with_the_likeliest_token(kind):
    model = untrained(kind, 3)
    (one,) = fill_names(model, [FRANC])
    line = fact_tokenizer().encode(FRANC.text, eos=False)[:7]
    for token in one.written:
        answer = model(torch.tensor([[1, *line]]))
        ahead = (answer[0] if kind == "elmo" else answer)[0, -1, 4:-1]
        line.append(int(ahead.argmax()) + 4)
        assert fact_tokenizer().vocabulary.tokens[line[-1]] == token


def test_one_token_at_a_time_leaves_the_others():
    model, fact = untrained("bert", 3), FRANC
    found = fill_tokens(model, [fact])
    line = [1, *fact_tokenizer().encode(fact.text)]
    wanted = []
    for place in (8, 9):
        hidden = torch.tensor([line])
        hidden[0, place] = len(fact_tokenizer().vocabulary)
        wanted.append(int(model(hidden)[0][0, place, 4:-1].argmax()) + 4 == line[place])
    assert found == wanted


def test_a_model_of_another_vocabulary_is_refused():
    small = pretraining_model("gpt", 23, **SIZES["gpt"])
    with pytest.raises(ValueError, match=r"^model must"):
        fill_names(small, [FRANC])


def test_a_guess_takes_the_most_frequent_name_and_completes_the_others():
    franc, dollar = guess_names([FRANC, the_fact("In Fiji, people pay with the Fijian Dollar.")])
    assert not franc.is_right  # "US Dollar" is more frequent
    assert franc.tokens_right == [False, True]  # most francs of two words are not Swiss
    assert len(dollar.tokens_right) == 2


def test_other_territories_make_each_answer_false():
    others = about_others(
        [FRANC, GERMAN, the_fact("In Japan, people pay with the Japanese Yen.")], seed=0
    )
    assert others[0].text == "In Japan, people pay with the Swiss Franc."
    assert others[1].text == "An official language of Japan is German."
    assert others[2].text == "In Switzerland, people pay with the Japanese Yen."
    with pytest.raises(ValueError, match="false"):
        about_others([FRANC], seed=0)
