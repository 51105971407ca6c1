"""The two models that extract answers and come with the library: whole, and as good as told."""

import pytest

from gates2heads.book.ch11.pretraining import fact_tokenizer
from gates2heads.book.ch11.uses import MORE, PASSAGES, STEPS, answer_counts
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.data.corpora.wordings import STRANGERS, territory_code, wordings
from gates2heads.models.pretraining.fine_tuned import FineTuned
from gates2heads.watching.answers import observe_answer
from studies.ch11.fine_tuning import STARTS
from tests.browser.engine.in_node import entry_of
from tests.javascript import run_javascript
from tests.views.find_the_answer.test_find_the_answer import RUN, TASK, same_answer

ASKED = MORE[PASSAGES].examples("test")


@pytest.mark.parametrize("start", STARTS)
def test_its_card_names_what_made_it(start):
    model, source, _, _, card = shipped(f"answers_{start}")
    assert type(model) is FineTuned
    assert not model.training
    assert source.vocabulary.tokens == fact_tokenizer().vocabulary.tokens
    assert card["command"] == f"python -m shipping.answers {start}"
    assert (card["start"], card["steps"]) == (start, 40 * STEPS)
    assert card["parameters"] == sum(parameter.numel() for parameter in model.parameters())


def test_the_test_asks_about_territories_that_training_never_mentions():
    known = {territory_code(fact) for fact in wordings("train")}
    assert not known & {territory_code(fact) for fact in wordings(STRANGERS)}


@pytest.mark.parametrize("start", STARTS)
def test_it_answers_as_its_card_says(start):
    """On another machine a tie of rounded weights may fall otherwise, in an answer or two."""

    one = shipped(f"answers_{start}")
    told = one.card["test_right_of"]

    def reader(batch):
        return one.model(batch.tokens, segments=batch.segments, mask=batch.mask)

    for kind, (right, asked) in answer_counts(reader, ASKED).items():
        assert asked == told[kind][1]
        assert abs(right - told[kind][0]) <= 2


@pytest.mark.parametrize("start", STARTS)
def test_in_the_page_it_says_what_it_says_in_python(start):
    one = shipped(f"answers_{start}")
    entry = entry_of(live_model(f"answers_{start}"))
    some = ASKED[::17]
    given = [
        {
            "entry": entry,
            "payload": {"question": example.first, "text": example.second},
            "threshold": 0,
        }
        for example in some
    ]
    for example, found in zip(some, run_javascript(RUN, TASK, given), strict=True):
        same_answer(found, observe_answer(one.model, example.first, example.second, one.source))
