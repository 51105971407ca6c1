"""The checks of chapter 11: right answers pass, and each plausible wrong answer gets its reason."""

import pytest
import torch

from gates2heads.book.ch11 import exercises
from gates2heads.data.batches.joined import Markers
from gates2heads.models.pretraining.answers import AnswerLogits, best_answers
from gates2heads.models.pretraining.elmo import LayerMix
from gates2heads.models.pretraining.masking import choose_units, hide, token_units


def in_a_loop(tokens, chosen, lot, others, mask):
    read = tokens.clone()
    for at in range(len(tokens)):
        if chosen[at] and lot[at] < 0.9:
            read[at] = mask if lot[at] < 0.8 else others[at]
    return read


def with_the_library(states, scores, scale):
    mix = LayerMix(len(states))
    with torch.no_grad():
        mix.scores.copy_(scores.detach())
        mix.scale.fill_(scale)
    weights = mix.shares.detach() * scale
    return torch.einsum("n,nld->ld", weights, states)


def span_of_the_library(first, last):
    found = best_answers(AnswerLogits(first[None], last[None]), null=0)
    return (int(found.first), int(found.last)) if found.found else (0, 0)


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (exercises.check_hidden, in_a_loop),
        (exercises.check_names, lambda d, u: torch.stack([d[int(at)] for at in u])),
        (exercises.check_mix, with_the_library),
        (exercises.check_span, span_of_the_library),
    ],
)
def test_another_way_to_be_right(check, answer):
    verdict = check(answer)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(
    ("check", "answer", "words"),
    [
        (exercises.check_hidden, lambda t, c, lot, o, m: t.masked_fill(c, m), "[MASK]"),
        (exercises.check_hidden, lambda t, c, lot, o, m: t, "expected"),
        (exercises.check_hidden, lambda t, c, lot, o, m: t.masked_fill_(c, m), "changes its"),
        (exercises.check_hidden, lambda t, c: t, "5 arguments"),
        (exercises.check_names, lambda d, u: ~d[u], "expected"),
        (exercises.check_names, lambda d, u: d, "half of a name"),
        (exercises.check_names, lambda d, u: u[d], "shape"),
        (exercises.check_mix, lambda s, w, g: g * (w.softmax(0) * s).sum(0), "raised|shape|answer"),
        (exercises.check_mix, lambda s, w, g: g * s.mean(0), "same weight"),
        (exercises.check_mix, lambda s, w, g: s[-1], "expected"),
        (exercises.check_span, lambda f, e: (0, 0), "expected"),
        (exercises.check_span, lambda f, e: (int(f.argmax()), int(f.argmax())), "expected"),
        (exercises.check_span, lambda f, e: int(f.argmax()), "2 results"),
    ],
)
def test_a_wrong_answer_gets_its_reason(check, answer, words):
    verdict = check(answer)
    assert not verdict.passed
    assert any(word in verdict.message for word in words.split("|")), verdict.message


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((120, 120, 15), "all chosen tokens"),
        ((1000, 120, 15), "left-to-right model"),
        ((150, 150, 15), "only 80 %"),
        ((150, 800, 15), "not of all"),
        ((150, 120, 850), "contribute to the loss"),
        ((150, 120, 30), "Half of these 30"),
        ((150, 120, 14), "The third number is incorrect"),
        (("many", 120, 15), "The first answer should be a number"),
    ],
)
def test_the_pencil_is_corrected(given, words):
    verdict = exercises.check_counts(*given)
    assert not verdict.passed
    assert words in verdict.message


def test_the_pencil_is_right_and_the_library_draws_so():
    assert exercises.check_counts(150, 120, 15).passed
    assert "not tried yet" in exercises.check_counts(..., ..., ...).message
    markers, draw = Markers(5000), torch.Generator().manual_seed(0)
    tokens = torch.randint(3, 5000, (40, 1000), generator=draw)
    units = token_units(markers.ordinary(tokens))
    chosen = choose_units(units, generator=draw)
    read = hide(tokens, units, chosen, markers=markers, generator=draw)
    assert (chosen.sum(dim=1) == 150).all()
    masked = (read == markers.mask).sum(dim=1).float().mean()
    kept = (chosen & (read == tokens)).sum(dim=1).float().mean()
    # 40 draws: the mean of the masked has a standard deviation of 4.9 / √40 = 0.8, that of the
    # kept one of 3.7 / √40 = 0.6
    assert abs(masked - 120) < 4
    assert abs(kept - 15) < 3
