"""The heads: what each of them reads, and the best span beside a loop over all spans."""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.models.pretraining.answers import (
    AnswerHead,
    AnswerLogits,
    best_answers,
    crossed_answers,
)
from gates2heads.models.pretraining.heads import SentenceHead, TokenHead, summarise

D, CLASSES = 7, 5


def test_summaries_by_hand():
    vectors = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [5.0, 4.0]], [[7.0, 8.0], [9.0, 1.0], [0, 0]]])
    mask = torch.tensor([[True, True, True], [True, True, False]])
    assert summarise(vectors).tolist() == [[1, 2], [7, 8]]
    assert summarise(vectors, "last", mask=mask).tolist() == [[5, 4], [9, 1]]
    assert summarise(vectors, "mean", mask=mask).tolist() == [[3, 4], [8, 4.5]]
    assert summarise(vectors, "last").tolist() == [[5, 4], [0, 0]]
    torch.testing.assert_close(summarise(vectors, "mean"), vectors.mean(1))


@pytest.mark.parametrize("read", ["first", "last", "mean"])
@given(lengths=st.lists(st.integers(1, 5), min_size=1, max_size=4), more=st.integers(0, 3))
def test_padding_is_not_read(read, lengths, more):
    vectors = torch.randn(len(lengths), max(lengths) + more, D)
    mask = torch.arange(vectors.shape[1]) < torch.tensor(lengths)[:, None]
    vectors[~mask] = torch.nan
    torch.manual_seed(3)
    head = SentenceHead(D, CLASSES, read=read).eval()
    logits = head(vectors, mask=mask)
    for row, length in enumerate(lengths):
        torch.testing.assert_close(logits[row], head(vectors[row, :length][None])[0])


def test_the_sentence_head_by_its_formula():
    head, vectors = SentenceHead(D, CLASSES).double().eval(), torch.randn(3, 11, D).double()
    hidden = torch.tanh(vectors[:, 0] @ head.hidden.weight.T + head.hidden.bias)
    torch.testing.assert_close(head(vectors), hidden @ head.readout.weight.T + head.readout.bias)


def test_the_token_head_reads_each_token_for_itself():
    head, vectors = TokenHead(D, CLASSES).eval(), torch.randn(3, 11, D)
    logits = head(vectors)
    assert logits.shape == (3, 11, CLASSES)
    order = torch.randperm(11)
    torch.testing.assert_close(head(vectors[:, order]), logits[:, order])


@pytest.mark.parametrize("build", [SentenceHead, TokenHead])
def test_dropout_acts_in_training_only(build):
    head = build(D, CLASSES, dropout=0.5)
    vectors = torch.randn(3, 11, D)
    assert not torch.equal(head(vectors), head(vectors))
    head.eval()
    assert torch.equal(head(vectors), head(vectors))


def test_the_span_head_has_one_vector_for_each_end():
    head, vectors = AnswerHead(D).double(), torch.randn(3, 11, D).double()
    logits = head(vectors)
    start, end = head.readout.weight
    torch.testing.assert_close(logits.first, vectors @ start + head.readout.bias[0])
    torch.testing.assert_close(logits.last, vectors @ end + head.readout.bias[1])


@st.composite
def span_questions(draw):
    """Logits from few values, so that spans tie; places that are allowed, or not; options."""
    batch, size = draw(st.integers(1, 3)), draw(st.integers(1, 7))
    row = st.lists(st.integers(-3, 3), min_size=size, max_size=size)
    both = [draw(st.lists(row, min_size=batch, max_size=batch)) for _ in range(2)]
    seen = st.lists(st.booleans(), min_size=size, max_size=size)
    allowed = draw(st.none() | st.lists(seen, min_size=batch, max_size=batch))
    options = {
        "max_length": draw(st.none() | st.integers(1, 8)),
        "null": draw(st.none() | st.integers(0, size - 1)),
        "threshold": draw(st.sampled_from([0.0, -1.0, 1.5])),
    }
    return [torch.tensor(scores).double() for scores in both], allowed, options


def loop(first, last, allowed, *, max_length=None, null=None, threshold=0.0):
    """All spans of one row, one after the other."""
    best = None
    for start in range(len(first)):
        for end in range(start, len(first)):
            outside = null is not None and null in (start, end)
            if outside or not (allowed[start] and allowed[end]):
                continue
            if max_length is not None and end - start + 1 > max_length:
                continue
            score = first[start] + last[end]
            if best is None or score > best[2]:
                best = (start, end, score)
    if best is None or (null is not None and best[2] <= first[null] + last[null] + threshold):
        return -1, -1, best[2] if best else -float("inf")
    return best


@given(span_questions())
def test_the_best_span_is_the_loops(question):
    (first, last), allowed, options = question
    mask = None if allowed is None else torch.tensor(allowed)
    answers = best_answers(AnswerLogits(first, last), allowed=mask, **options)
    for row in range(len(first)):
        places = [True] * first.shape[1] if allowed is None else allowed[row]
        start, end, score = loop(first[row].tolist(), last[row].tolist(), places, **options)
        assert (answers.first[row], answers.last[row]) == (start, end)
        assert answers.found[row] == (start >= 0)
        assert answers.score[row] == score


def test_no_answer_by_hand():
    """The passage's best span scores 3 + 2 = 5; "no answer" scores 4 at [CLS]."""
    logits = AnswerLogits(
        torch.tensor([[1.0, 0.0, 3.0, 0.0, 9.0]]), torch.tensor([[3.0, 4.0, 0.0, 2.0, 0.0]])
    )
    allowed = torch.tensor([[False, True, True, True, False]])
    answers = best_answers(logits, allowed=allowed, null=0)
    assert (answers.first.tolist(), answers.last.tolist()) == ([2], [3])
    assert answers.score.tolist() == [5]
    assert best_answers(logits, allowed=allowed, null=0, threshold=0.5).found.tolist() == [True]
    # An answer must exceed the threshold, not reach it.
    assert best_answers(logits, allowed=allowed, null=0, threshold=1.0).found.tolist() == [False]
    short = best_answers(logits, allowed=allowed, max_length=1)
    assert (short.first.tolist(), short.score.tolist()) == ([1], [4])
    # Each for itself, the best end (1) stands before the best beginning (2).
    crossed = crossed_answers(logits, allowed=allowed)
    assert crossed.found.tolist() == [False]
    assert (crossed.first.tolist(), crossed.last.tolist()) == ([-1], [-1])
    assert crossed.score.tolist() == [7]
    one_token = crossed_answers(AnswerLogits(logits.first, logits.first))
    assert (one_token.first.tolist(), one_token.last.tolist()) == ([4], [4])


@given(span_questions())
def test_where_the_ends_do_not_cross_they_make_the_best_span(question):
    (first, last), allowed, _ = question
    mask = None if allowed is None else torch.tensor(allowed)
    logits = AnswerLogits(first, last)
    crossed, best = crossed_answers(logits, allowed=mask), best_answers(logits, allowed=mask)
    for row in range(len(first)):
        if crossed.found[row]:
            assert crossed.score[row] == best.score[row]
            assert first[row, crossed.first[row]] + last[row, crossed.last[row]] == best.score[row]
            assert crossed.first[row] <= crossed.last[row]
            assert mask is None or mask[row, [crossed.first[row], crossed.last[row]]].all()
        else:
            assert crossed.first[row] == crossed.last[row] == -1
            nothing = mask is not None and not mask[row].any()
            assert nothing or crossed.score[row] >= best.score[row]


LOGITS = AnswerLogits(torch.zeros(2, 5), torch.zeros(2, 5))
VECTORS = torch.zeros(2, 5, D)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: summarise(VECTORS, "mean", mask=torch.zeros(2, 5).bool()),
            "mask leaves a row without a real token, so there is nothing to read",
        ),
        (
            lambda: best_answers(AnswerLogits(torch.zeros(2, 5), torch.zeros(2, 3))),
            "logits.last must",
        ),
        (
            lambda: best_answers((torch.zeros(2, 5),)),
            "logits must",
        ),
        (
            lambda: crossed_answers(AnswerLogits(torch.zeros(2, 5), torch.full((2, 5), torch.nan))),
            "logits.last must",
        ),
        (lambda: best_answers(LOGITS, null=5), "null must"),
        (lambda: best_answers(LOGITS, threshold="a"), "threshold must"),
        (
            lambda: best_answers(LOGITS, threshold=float("nan")),
            "threshold must",
        ),
        (
            lambda: best_answers(LOGITS, allowed=torch.ones(2, 4).bool()),
            "allowed must",
        ),
    ],
)
def test_arguments_that_do_not_go_together(call, message):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}"):
        call()
