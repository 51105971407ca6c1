"""The checks of chapter 5: right answers pass, and each plausible wrong answer gets its reason."""

import pytest
import torch
import torch.nn.functional as F

from gates2heads.data.corpora.dates import LOCALES, dates
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.exercises import attention as exercises
from gates2heads.exercises.verdict import NotYetError, Verdict, check
from gates2heads.models.translation.seq2seq import EncoderDecoder


def reinforce(weights, picks, rewards, baseline):
    """The right answer of exercise 5.4, to be spoilt below."""
    pushed = F.one_hot(picks, len(weights)) - weights
    return ((rewards - baseline)[:, None] * pushed).mean(0)


WRONG = [
    (exercises.check_pool, lambda q, k, v: None, "returned nothing"),
    (exercises.check_pool, lambda q, k, v: (k @ q).softmax(0), "shape should be (1,)"),
    (exercises.check_pool, lambda q, k, v: (k @ q) @ v, "done by hand"),
    (exercises.check_pool, lambda q, k, v: (k @ q / len(q) ** 0.5).softmax(0) @ v, "random keys"),
    (exercises.check_pool, lambda q, k, v: F.normalize((k @ q).exp(), p=1, dim=0) @ v, "NaN"),
    (exercises.check_pool, lambda q, k, v: 1 / 0, "raised ZeroDivisionError"),
    (exercises.check_split, lambda w, n: w, "two matrices"),
    (exercises.check_split, lambda w, n: (w[:, n:], w[:, :n]), "W_q"),
    (exercises.check_split, lambda w, n: (w[:n], w[n:]), "W_q"),
    (exercises.check_entropy, lambda w: -(w * w.log()).sum(-1), "NaN"),
    (exercises.check_entropy, lambda w: torch.xlogy(w, w).sum(-1), "eight equal weights"),
    (exercises.check_entropy, lambda w: -(torch.xlogy(w, w) / 0.6931472).sum(-1), "eight equal"),
    (exercises.check_entropy, lambda w: -torch.xlogy(w, w).sum(), "shape should be (2,)"),
    (exercises.check_reinforce, lambda w, i, r, b: None, "returned nothing"),
    (exercises.check_reinforce, lambda w, i, r, b: reinforce(w, i, r, b).sum(), "shape should be"),
    (exercises.check_reinforce, lambda w, i, r, b: -reinforce(w, i, r, b), "with reward 12"),
    (exercises.check_reinforce, lambda w, i, r, b: reinforce(w, i, r, b) + w, "with reward 12"),
    (exercises.check_reinforce, lambda w, i, r, b: reinforce(w, i, r, 0), "baseline 0.7"),
    (exercises.check_reinforce, lambda w, i, r, b: len(i) * reinforce(w, i, r, b), "seven draws"),
    (exercises.check_fault, "a", "sums would exceed 1"),
    (exercises.check_fault, "c", "same probabilities"),
    (exercises.check_fault, "D", "only its own output"),
    (exercises.check_fault, "the mask", "one of the letters"),
]


@pytest.mark.parametrize(("checker", "answer", "reason"), WRONG)
def test_a_wrong_answer_gets_its_reason(checker, answer, reason):
    verdict = checker(answer)
    assert not verdict.passed
    assert reason in verdict.message


def test_the_right_estimate_passes():
    assert exercises.check_reinforce(reinforce).passed


def test_the_letter_may_stand_in_brackets():
    assert exercises.check_fault("(B)").passed


def test_long_answers_are_shown_in_short():
    assert exercises.in_short(torch.arange(7) / 3) == "[0.000, 0.333, 0.667, 1.000, …]"
    assert exercises.in_short(torch.tensor(5.0)) == "[5.000]"


def test_an_answer_not_given_is_not_wrong_but_untried():
    verdict = exercises.check_pool(...)
    assert not verdict
    assert "not tried yet" in repr(verdict)


def test_a_verdict_shows_and_counts_as_what_it_says():
    assert repr(Verdict(True, "well")) == "✔ well"
    assert not Verdict(False, "no")


def test_a_check_turns_its_three_ends_into_verdicts():
    @check("Exercise 0")
    def checker(answer):
        if answer < 0:
            raise NotYetError("It must not be negative.")
        return f"{1 / answer}"

    assert checker(2) == Verdict(True, "Exercise 0: right. 0.5")
    assert checker(-1) == Verdict(False, "Exercise 0: not yet. It must not be negative.")
    assert checker(0) == Verdict(
        False, "Exercise 0: your code raised ZeroDivisionError: division by zero"
    )


@pytest.fixture
def untrained():
    pairs = dates("train", 997) + dates("test", 997)
    source = CharacterTokenizer.from_texts(pair.text for pair in pairs)
    target = CharacterTokenizer.from_texts(pair.iso for pair in pairs)
    torch.manual_seed(5)
    model = EncoderDecoder(len(source.vocabulary), len(target.vocabulary), hidden_size=14)
    return model, source, target


def test_the_study_refuses_a_report_that_does_not_fit_the_model(untrained):
    assert "you report 0.40" in exercises.check_left_out(*untrained, "es", 0.4).message
    assert "train longer" in exercises.check_left_out(*untrained, "es", 0.0).message
    assert "should be one of" in exercises.check_left_out(*untrained, "tlh", 0.0).message


def test_the_study_accepts_a_model_that_reads_seven_languages(untrained, monkeypatch):
    seen = [name for name in LOCALES if name != "es"]
    share = {("es",): 0.6, tuple(seen): 0.99}
    monkeypatch.setattr(
        exercises, "exact_match_on", lambda model, source, target, names: share[tuple(names)]
    )
    assert exercises.check_left_out(*untrained, "es", 0.58).passed
    share["es",] = 0.99
    assert "did it see that language" in exercises.check_left_out(*untrained, "es", 0.99).message
    share["zh",], share[tuple(name for name in LOCALES if name != "zh")] = 0.99, 0.99
    assert exercises.check_left_out(*untrained, "zh", 0.99).passed


def test_the_faulty_model_is_sound_without_padding_and_wrong_with_it():
    torch.manual_seed(5)
    model = exercises.faulty_model(17, 13)
    sound = EncoderDecoder(17, 13, score="scaled dot")
    sound.load_state_dict(model.state_dict())
    tokens = torch.randint(3, 17, (2, 7))
    full, short = torch.ones(2, 7, dtype=torch.bool), torch.arange(7) < torch.tensor([[7], [3]])
    last = torch.ones(2, dtype=torch.long)

    def first(network, mask):
        return network.step(network.start(tokens, mask=mask), last)[0]

    torch.testing.assert_close(first(model, full), first(sound, full))
    difference = (first(model, short) - first(sound, short)).abs().amax(-1)
    assert difference[0] < 1e-6
    assert difference[1] > 1e-4
