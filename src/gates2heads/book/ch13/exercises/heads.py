"""Chapter 13, Scaling and in-context learning: checks of the exercises on induction heads."""

import torch
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors


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
