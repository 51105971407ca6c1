"""The checks of chapter 5: right answers pass, and each plausible wrong answer gets its reason."""

from fractions import Fraction

import pytest
import torch
import torch.nn.functional as F

from gates2heads.book.ch05 import answers, exercises
from gates2heads.book.ch05 import further_exercises as further
from gates2heads.book.ch05.exercises import luong_step, masked_softmax_by_hand
from gates2heads.book.ch05.further_exercises import reinforce
from gates2heads.data.corpora.dates import LOCALES, dates
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.layers.attention.scores import AdditiveScore, ConcatScore
from gates2heads.layers.masks import masked_softmax
from gates2heads.models.translation.seq2seq import EncoderDecoder


def after_exp(scores, mask):
    """Right weights, but no gradient where a forbidden score is far above the others."""
    highest = masked(scores, mask).amax(-1, keepdim=True).nan_to_num(neginf=0)
    mass = (scores - highest).exp() * 1.0
    mass = mass.masked_fill(~mask, 0)
    return mass / mass.sum(-1, keepdim=True).clamp_min(1e-30)


def masked(scores, mask):
    return scores.masked_fill(~mask, -torch.inf)


WRONG = [
    (exercises.check_pool, lambda q, k, v: (k @ q).softmax(0), "expected a tensor of shape (1,)"),
    (exercises.check_pool, lambda q, k, v: (k @ q) @ v, "the softmax is missing"),
    (exercises.check_pool, lambda q, k, v: (k @ q / len(q) ** 0.5).softmax(0) @ v, "by √K"),
    (exercises.check_pool, lambda q, k, v: (k @ q / 3**0.5).softmax(0) @ v, "√3 for every K"),
    (exercises.check_pool, lambda q, k, v: (k @ q / len(k) ** 0.5).softmax(0) @ v, "by √S"),
    (exercises.check_pool, lambda q, k, v: F.normalize((k @ q).exp(), p=1, dim=0) @ v, "overflow"),
    (exercises.check_pool, lambda q, k, v: 1 / 0, "raised ZeroDivisionError"),
    (exercises.check_masked_softmax, lambda s, m: s.softmax(-1), "the mask is ignored"),
    (
        exercises.check_masked_softmax,
        lambda s, m: s.softmax(-1) * m,
        "were set to 0 after the softmax",
    ),
    (
        exercises.check_masked_softmax,
        lambda s, m: s.masked_fill(~m, -1e9).softmax(-1),
        "nothing is allowed",
    ),
    (
        exercises.check_masked_softmax,
        lambda s, m: s.masked_fill(~m, -torch.inf).softmax(-1),
        "becomes NaN",
    ),
    (
        exercises.check_masked_softmax,
        lambda s, m: (s.exp() * m) / (s.exp() * m).sum(-1, keepdim=True).clamp_min(1e-30),
        "scores in the thousands",
    ),
    (
        exercises.check_masked_softmax,
        lambda s, m: masked_softmax_by_hand(s, ~m),
        "the mask is inverted",
    ),
    (exercises.check_luong_step, lambda c, w, y, s, h, m: c(y, s), "2 results"),
    (
        exercises.check_luong_step,
        lambda c, w, y, s, h, m: luong_step(c, w, y, s, h, m | True),
        "the mask is ignored",
    ),
    (
        exercises.check_luong_step,
        lambda c, w, y, s, h, m: (
            torch.tanh(torch.cat([(s @ h.T).softmax(-1) @ h, c(y, s)], -1) @ w.T),
            c(y, s),
        ),
        "the input of the output layer",
    ),
    (
        exercises.check_luong_step,
        lambda c, w, y, s, h, m: (luong_step(c, w, y, s, h, m)[0], s),
        "the state before the step was returned",
    ),
    (exercises.check_masked_softmax, after_exp, "the mask was applied after `exp`"),
    (
        exercises.check_masked_softmax,
        lambda s, m: masked_softmax_by_hand(s.detach(), m),
        "no gradient reaches `scores`",
    ),
    (answers.check_same, ("dot", "scaled dot"), "a factor √K"),
    (answers.check_same, ("General", "dot"), "a matrix G"),
    (answers.check_same, ("general", "concat"), "through a tanh"),
    (answers.check_same, ("dot", "dot"), "two of dot"),
    (answers.check_same, "dot", "two names"),
    (answers.check_gradient, [0.5, 7, -7.5], "the negative gradient"),
    (answers.check_gradient, torch.tensor([-3.0, -21, 15]), "α_j is missing"),
    (answers.check_gradient, (-3, -12, 0), "v_j − c"),
    (answers.check_gradient, [-1, -14, 15], "the factor ½ is missing"),
    (answers.check_gradient, [-18, -36, 0], "before the softmax"),
    (answers.check_gradient, [1, 2, 3], "Compute c − 8 first"),
    (answers.check_gradient, -0.5, "three numbers"),
    (exercises.check_entropy, lambda w: -(w * w.log()).sum(-1), "0 · log 0 counts as 0"),
    (exercises.check_entropy, lambda w: torch.xlogy(w, w).sum(-1), "the minus sign is missing"),
    (exercises.check_entropy, lambda w: -(w * (w + 1e-30).log2()).sum(-1), "these are bits"),
    (exercises.check_entropy, lambda w: -torch.xlogy(w, w).sum(), "the sum runs over all axes"),
    (further.check_reinforce, lambda w, i, r, b: print(end=""), "is a `return` missing?"),
    (further.check_reinforce, lambda w, i, r, b: reinforce(w, i, r, b).sum(), "of shape (3,)"),
    (further.check_reinforce, lambda w, i, r, b: -reinforce(w, i, r, b), "the sign is wrong"),
    (further.check_reinforce, lambda w, i, r, b: reinforce(w, i, r, b) + w, "with reward 12"),
    (further.check_reinforce, lambda w, i, r, b: reinforce(w, i, r, 0), "baseline is missing"),
    (
        further.check_reinforce,
        lambda w, i, r, b: reinforce(w, i, r, b) / w,
        "divided by its weight",
    ),
    (
        further.check_reinforce,
        lambda w, i, r, b: ((r - b)[:, None] * F.one_hot(i, len(w)) / w).mean(0),
        "with respect to the weights",
    ),
    (further.check_reinforce, lambda w, i, r, b: len(i) * reinforce(w, i, r, b), "is a sum"),
    (answers.check_fault, "a", "every weight would be 1"),
    (answers.check_fault, "b", "stay on the date's own"),
    (answers.check_fault, "c", "same probabilities"),
    (answers.check_fault, "E", "free-running decoding"),
    (answers.check_fault, "the mask", "one of the letters"),
]


@pytest.mark.parametrize(("checker", "answer", "reason"), WRONG)
def test_a_wrong_answer_gets_its_reason(checker, answer, reason):
    verdict = checker(answer)
    assert not verdict.passed
    assert reason in verdict.message


def test_the_solutions_are_what_the_library_and_autograd_say():
    torch.manual_seed(5)
    scores, rewards = torch.randn(5, requires_grad=True), torch.randn(7)
    picks = torch.randint(5, (7,))
    ((rewards - 0.7) * scores.log_softmax(0)[picks]).mean().backward()
    estimate = reinforce(scores.detach().softmax(0), picks, rewards, 0.7)
    torch.testing.assert_close(estimate, scores.grad)
    logits, allowed = torch.randn(5, 7), torch.rand(5, 7) < 0.6
    torch.testing.assert_close(
        masked_softmax_by_hand(logits, allowed), masked_softmax(logits, mask=allowed)
    )
    weights = torch.rand(5, 7).softmax(-1)
    by_torch = torch.distributions.Categorical(weights).entropy()
    torch.testing.assert_close(exercises.entropy(weights), by_torch)


def test_the_letter_may_stand_in_brackets():
    assert answers.check_fault("(D)").passed


def test_the_two_names_of_one_score_function_compute_the_same():
    assert answers.check_same(["Concat", "additive"]).passed
    assert answers.check_same("additive, concat").passed
    assert "two names" in answers.check_same("additive").message
    torch.manual_seed(5)
    concat, additive = ConcatScore(3, 5, 7), AdditiveScore(3, 5, 7)
    with torch.no_grad():
        additive.query_layer.weight.copy_(concat.weight[:, :3])
        additive.key_layer.weight.copy_(concat.weight[:, 3:])
        additive.vector.weight.copy_(concat.vector.weight)
    query, keys = torch.randn(2, 11, 3), torch.randn(2, 13, 5)
    torch.testing.assert_close(
        concat(query, concat.project_keys(keys)), additive(query, additive.project_keys(keys))
    )


def test_the_gradient_found_by_pencil_is_what_autograd_finds():
    scores = torch.tensor([1.0, 2.0, 3.0]).log().requires_grad_()
    context = scores.softmax(0) @ torch.tensor([6.0, 12.0, 0.0])
    (0.5 * (context - 8) ** 2).backward()
    torch.testing.assert_close(scores.grad, torch.tensor(answers.GRADIENT))
    assert answers.check_gradient(scores.grad).passed
    written = [-0.5, -7, 7.5], [[-0.5], [-7], [7.5]], [Fraction(-1, 2), -7, Fraction(15, 2)]
    for numbers in (*written, torch.tensor(written[1])):
        assert answers.check_gradient(numbers).passed
    for wrong in ([[-0.5, -7], [7.5, 0]], ["-0.5", -7, 7.5], [-0.5, -7]):
        assert "Answer with three numbers" in answers.check_gradient(wrong).message


@pytest.fixture
def untrained():
    pairs = dates("train", 997) + dates("test", 997)
    source = CharacterTokenizer.from_texts(pair.text for pair in pairs)
    target = CharacterTokenizer.from_texts(pair.iso for pair in pairs)
    torch.manual_seed(5)
    model = EncoderDecoder(len(source.vocabulary), len(target.vocabulary), hidden_size=14)
    return model, source, target


def test_the_study_refuses_a_report_that_does_not_fit_the_model(untrained):
    assert "you reported 0.40" in further.check_left_out(*untrained, "es", 0.4).message
    assert "train longer" in further.check_left_out(*untrained, "es", 0.0).message
    assert "should be one of" in further.check_left_out(*untrained, "tlh", 0.0).message


def test_the_study_accepts_a_model_that_reads_seven_languages(untrained, monkeypatch):
    seen = [name for name in LOCALES if name != "es"]
    share = {("es",): 0.6, tuple(seen): 0.99}
    monkeypatch.setattr(
        further, "exact_match_on", lambda model, source, target, names: share[tuple(names)]
    )
    assert further.check_left_out(*untrained, "es", 0.58).passed
    share["es",] = 0.99
    assert (
        "was it trained on that language" in further.check_left_out(*untrained, "es", 0.99).message
    )
    share["zh",], share[tuple(name for name in LOCALES if name != "zh")] = 0.99, 0.99
    verdict = further.check_left_out(*untrained, "zh", 0.99)
    assert verdict.passed
    assert "cannot tell whether" in verdict.message


def test_the_faulty_model_is_sound_without_padding_and_wrong_with_it():
    torch.manual_seed(5)
    model = answers.faulty_model(17, 13)
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


def test_a_masked_softmax_by_the_logarithm_of_the_sum_is_right():
    def by_logsumexp(scores, mask):
        allowed = scores.masked_fill(~mask, -torch.inf)
        least = allowed.logsumexp(-1, keepdim=True).nan_to_num(neginf=0)
        return (allowed - least).exp().masked_fill(~mask, 0)

    assert exercises.check_masked_softmax(by_logsumexp).passed


def test_a_masked_softmax_that_uses_a_softmax_is_sent_back():
    def borrowed(scores, mask):
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
        return weights.masked_fill(~mask.any(-1, keepdim=True), 0)

    verdict = str(exercises.check_masked_softmax(borrowed))
    assert "✘" in verdict
    assert "but your function uses `softmax`: do without it" in verdict
