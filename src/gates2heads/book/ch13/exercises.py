"""Chapter 13, Size and context: the checks of its exercises."""

import torch
from torch import Tensor

from gates2heads.book.ch13.conflict_measures import context_is_true
from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.paper import Numbers, NumbersCheck, near, slips

# Exercise 13.1: a million parameters and four million tokens
OPERATIONS, TOKENS = 6 * 10**6 * 4 * 10**6, 10**6


check_compute = NumbersCheck(
    title="Exercise 13.1",
    questions=(
        Numbers(
            name="operations",
            right=(near(OPERATIONS, share=True),),
            slips=slips(
                {
                    OPERATIONS // 6: "You left out the factor 6: each parameter takes about six "
                    "operations for each token.",
                    OPERATIONS // 3: "That is the forward pass alone; the backward pass takes "
                    "twice as many.",
                    OPERATIONS // 3 * 2: "That is the backward pass alone; the forward pass comes "
                    "before it.",
                    OPERATIONS // 4: "You multiplied by one million tokens; there are four.",
                    6 * 5 * 10**6: "You added parameters and tokens: every token passes through "
                    "every parameter, so multiply.",
                },
                share=True,
            ),
            otherwise="operations is not right: multiply 6, the parameters and the tokens.",
            ask="operations should be a number",
        ),
        Numbers(
            name="tokens",
            right=(near(TOKENS, share=True),),
            slips=slips(
                {
                    16 * 10**6: "With the same budget a larger model reads fewer tokens, not more.",
                    4 * 10**6: "Then the budget would be four times as large; it should stay the "
                    "same.",
                    2 * 10**6: "Divide by four, not by two: the operations are proportional to "
                    "both factors.",
                },
                share=True,
            ),
            otherwise="tokens is not right: divide the operations by 6 and the parameters.",
            ask="tokens should be a number",
        ),
    ),
    remark="The budget does not say which model has the lower loss; a fitted law estimates it.",
)


def fit_power_law(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The solution of exercise 13.2.

    Args:
        x, y: (R,) positive.

    Returns:
        factor and exponent of y ≈ factor · x^(−exponent), by least squares of the logarithms.
    """
    apart = x.log() - x.log().mean()
    slope = (apart * y.log()).sum() / (apart * apart).sum()
    return (y.log().mean() - slope * x.log().mean()).exp(), -slope


def _line(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Intercept and slope of the line through points (R,)."""
    apart = x - x.mean()
    slope = (apart * y).sum() / (apart * apart).sum()
    return y.mean() - slope * x.mean(), slope


def _fitted_with(*, x_log=torch.log, y_log=torch.log, undo=torch.exp, sign=-1, swapped=False):
    """A fit with one mistake."""

    def fitted(x, y):
        intercept, slope = _line(x_log(x), y_log(y))
        found = undo(intercept), sign * slope
        return found[::-1] if swapped else found

    return fitted


def _as_it_is(values):
    return values


def _first_and_last(x, y):
    slope = (y[-1] / y[0]).log() / (x[-1] / x[0]).log()
    return (y[0].log() - slope * x[0].log()).exp(), -slope


def _through_the_origin(x, y):
    return torch.ones_like(x[0]), -(x.log() * y.log()).sum() / (x.log() ** 2).sum()


def _x_from_y(x, y):
    intercept, slope = _line(y.log(), x.log())
    return (-intercept / slope).exp(), -1 / slope


def _power_laws() -> list[Case]:
    x = torch.tensor([1.0, 4.0, 16.0, 64.0], dtype=torch.double)
    (noise,) = random_tensors((7,))
    sizes = torch.tensor([2.0, 3.0, 5.0, 9.0, 20.0, 30.0, 80.0], dtype=torch.double)
    return [
        Case("y = 3 / √x at x = 1, 4, 16 and 64", (x, 3 / x.sqrt())),
        Case("seven noisy points", (sizes, 5 * sizes**-0.3 * (0.1 * noise.double()).exp())),
        Case("a law that rises", (sizes, 0.5 * sizes**0.2 * (0.05 * noise.double()).exp())),
    ]


check_power_law = FunctionCheck(
    title="Exercise 13.2",
    solution=fit_power_law,
    cases=_power_laws,
    parts=("factor", "exponent"),
    mistakes={
        "a line was fitted to x and y themselves: take the logarithms of both": _fitted_with(
            x_log=_as_it_is, y_log=_as_it_is, undo=_as_it_is
        ),
        "the exponent has the wrong sign: the law is x to the power of −exponent": _fitted_with(
            sign=1
        ),
        "the factor is still a logarithm: apply exp to the intercept": _fitted_with(undo=_as_it_is),
        "only the logarithm of y was taken: that fits an exponential function": _fitted_with(
            x_log=_as_it_is
        ),
        "only the logarithm of x was taken": _fitted_with(y_log=_as_it_is, undo=_as_it_is),
        "x has a decimal logarithm and y a natural one: use the same base": _fitted_with(
            x_log=torch.log10
        ),
        "y has a decimal logarithm and x a natural one: use the same base": _fitted_with(
            y_log=torch.log10
        ),
        "the logarithms are decimal, so the factor is 10 to the power of the intercept": (
            _fitted_with(x_log=torch.log10, y_log=torch.log10)
        ),
        "factor and exponent are exchanged": _fitted_with(swapped=True),
        "only the first and the last point were used": _first_and_last,
        "the line goes through the origin: it needs an intercept": _through_the_origin,
        "the logarithm of x was predicted from that of y": _x_from_y,
    },
    remark="On logarithmic axes, a power law is a straight line with the slope −exponent.",
)


def prefix_matching(weights: Tensor, tokens: Tensor) -> Tensor:
    """The solution of exercise 13.3.

    Args:
        weights: (T, T), the attention weights of one head; row i belongs to the query i.
        tokens: (T,) long.

    Returns:
        the mean weight of the token after the latest earlier occurrence of the query's token.
    """
    found = []
    for i in range(len(tokens)):
        earlier = (tokens[:i] == tokens[i]).nonzero().flatten()
        if len(earlier):
            found.append(weights[i, earlier[-1] + 1])
    return torch.stack(found).mean()


def _matched_with(*, after=1, which=-1, own=False, mean=True, alone=False, turned=False):
    """A prefix-matching score with one mistake."""

    def score(weights, tokens):
        found = []
        weights = weights.T if turned else weights
        for i in range(len(tokens) - own):
            earlier = (tokens[: i + own] == tokens[i]).nonzero().flatten().tolist()
            if earlier or alone:
                found.append(weights[i, (earlier[which] if earlier else -after) + after])
        total = torch.stack(found).sum()
        return {True: total / len(found), False: total, "all": total / len(tokens)}[mean]

    return score


def _every_occurrence(weights, tokens):
    found = [
        weights[i, j + 1] for i in range(len(tokens)) for j in range(i) if tokens[j] == tokens[i]
    ]
    return torch.stack(found).mean()


def _head_cases() -> list[Case]:
    (scores,) = random_tensors((9, 9))
    later = torch.ones(9, 9).triu(1).bool()
    weights = scores.masked_fill(later, -torch.inf).softmax(dim=1)
    perfect = torch.eye(6)[[0, 0, 0, 1, 2, 3]]  # each query of the repeat finds the next token
    twice = torch.tensor([5, 8, 2, 5, 8, 2])
    return [
        Case("a perfect head on the tokens 5, 8, 2, 5, 8, 2", (perfect, twice), 1.0),
        Case(
            "nine tokens, of which one occurs three times",
            (weights, torch.tensor([4, 1, 4, 7, 3, 4, 1, 6, 1])),
        ),
        Case(
            "nine tokens with a token twice in succession",
            (weights, torch.tensor([1, 2, 2, 3, 9, 1, 5, 2, 8])),
        ),
    ]


check_prefix_matching = FunctionCheck(
    title="Exercise 13.3",
    solution=prefix_matching,
    cases=_head_cases,
    mistakes={
        "the weight is that of the earlier occurrence itself: an induction head attends to the "
        "token after it": _matched_with(after=0),
        "the first occurrence was used: take the latest earlier one": _matched_with(which=0),
        "the sum is divided by T: divide by the number of positions that count": _matched_with(
            mean="all"
        ),
        "the weights are added, but not divided by their number": _matched_with(mean=False),
        "positions whose token did not occur before are counted, too": _matched_with(alone=True),
        "each position is its own earlier occurrence: j must be less than i": _matched_with(
            own=True
        ),
        "rows and columns are exchanged: row i holds the weights of query i": _matched_with(
            turned=True
        ),
        "all earlier occurrences are counted: take only the latest one": _every_occurrence,
    },
    remark="`induction.head_scores` computes it for all heads of a model.",
)


def copying_share(embedding: Tensor, ov: Tensor, output: Tensor) -> Tensor:
    """The solution of exercise 13.4.

    Args:
        embedding: (W, D), one row for each word.
        ov: (D, D), the product of the value and output projections of a head.
        output: (W, D), the output matrix.

    Returns:
        the share of words whose own logit the head raises the most when it attends to them.
    """
    circuit = embedding @ ov @ output.T  # (W, W): from the attended word to the logits
    own = torch.arange(len(circuit), device=circuit.device)
    return (circuit.argmax(dim=1) == own).double().mean()


def _diagonal(circuit, dim=1):
    return (circuit.argmax(dim=dim) == torch.arange(len(circuit))).double().mean()


def _count(embedding, ov, output):
    return copying_share(embedding, ov, output) * len(embedding)


def _positive(embedding, ov, output):
    return ((embedding @ ov) * output).sum(dim=1).gt(0).double().mean()


def _circuits() -> list[Case]:
    embedding, ov, noise = random_tensors((12, 6), (6, 6), (12, 6))
    (other,) = random_tensors((20, 8))
    turn = torch.eye(8).roll(1, dims=0)
    by_hand = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
    lifted = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.5, 1.5]])
    return [
        Case("three words with an OV circuit that keeps vectors", (by_hand, torch.eye(2), lifted)),
        Case("twelve words", (embedding, ov, embedding @ ov + 1.2 * noise)),
        Case("twenty words", (other, turn, other @ turn + other.roll(1, dims=0))),
        Case("a head that does the opposite", (embedding, -ov, embedding @ ov), 0.0),
    ]


check_copying_share = FunctionCheck(
    title="Exercise 13.4",
    solution=copying_share,
    cases=_circuits,
    mistakes={
        "the largest entry of each column was found: row w holds the logits after attending to "
        "word w": lambda embedding, ov, output: _diagonal(embedding @ ov @ output.T, dim=0),
        "the OV matrix is transposed: a row vector is multiplied by it from the left": (
            lambda embedding, ov, output: _diagonal(embedding @ ov.T @ output.T)
        ),
        "the output matrix is left out: the embedding does not give logits": (
            lambda embedding, ov, output: _diagonal(embedding @ ov @ embedding.T)
        ),
        "the OV matrix is left out": lambda embedding, ov, output: _diagonal(embedding @ output.T),
        "this is the number of words: divide by W": _count,
        "words with a positive entry on the diagonal are counted: it must be the largest of its "
        "row": _positive,
        "the largest absolute value was found: a logit that falls the most does not count": (
            lambda embedding, ov, output: _diagonal((embedding @ ov @ output.T).abs())
        ),
    },
    remark="A head that copies has a share near 1; for a random one it is about 1 / W.",
)


def _prior_ignored(wrong, known, n):
    return 1 - wrong


def _memory_is_no_evidence(wrong, known, n):
    return (1 - wrong) / (1 - wrong + wrong / (n - 1))


def _not_normalised(wrong, known, n):
    return (1 - known) / (n - 1) * (1 - wrong)


def _exchanged(wrong, known, n):
    return 1 - context_is_true(wrong, known, n)


def _any_wrong_value(wrong, known, n):
    other = (1 - known) / (n - 1)
    return other * (1 - wrong) / (other * (1 - wrong) + (1 - other) * wrong)


def _all_others(wrong, known, n):
    right = (1 - known) * (1 - wrong)
    return right / (right + known * wrong / (n - 1))


def _two_values(wrong, known, n):
    right = (1 - known) * (1 - wrong)
    return right / (right + known * wrong)


check_context_is_true = FunctionCheck(
    title="Exercise 13.5",
    solution=context_is_true,
    cases=lambda: [
        Case("wrong = 0.2, known = 0.5 and 3 values", (0.2, 0.5, 3), 8 / 11),
        Case("wrong = 0.2, known = 0.9 and 32 values", (0.2, 0.9, 32)),
        Case(
            "a memory without knowledge: wrong = 0.2, known = 0.25, 4 values", (0.2, 0.25, 4), 0.8
        ),
        Case("statements that are always right: wrong = 0, known = 0.9, 32 values", (0.0, 0.9, 32)),
        Case("wrong = 0.5, known = 0.3 and 5 values", (0.5, 0.3, 5)),
    ],
    mistakes={
        "what the memory says is left out: that is the answer only if it knows nothing": (
            _prior_ignored
        ),
        "the memory's probabilities are left out: multiply by them, as Bayes' rule does": (
            _memory_is_no_evidence
        ),
        "the product of prior and likelihood is not divided by its sum over all values": (
            _not_normalised
        ),
        "this is the probability that the context is wrong": _exchanged,
        "a wrong statement has n − 1 values to choose from: its probability for each is wrong / "
        "(n − 1)": _any_wrong_value,
        "the context's value has all of 1 − known: it shares that with n − 2 other values": (
            _all_others
        ),
        "the values that neither memory nor context names are left out: they can be true too": (
            _two_values
        ),
    },
    remark="Context and memory are equally probable where known = 1 − wrong, for any n.",
)
