"""Brown clustering: words with similar neighbours are merged into classes, pair by pair."""

import torch
from torch import Tensor

from gates2heads.accepts import accepts, counts, instance, natural
from gates2heads.data.batches.windows import Text

TABLE = counts("C C", some=False)


@accepts(table=TABLE)
def mutual_information(table: Tensor) -> Tensor:
    """The mutual information of adjacent classes; a scalar, in nats.

    Σ_ij p_ij log(p_ij / (l_i r_j)), where p is the table divided by its sum, and l_i, r_j are the
    sums of its row i and column j.

    Source: Brown et al. 1992, section 3. Departs from it in nothing.

    Args:
        table: (C, C), how often class j directly follows class i.
    """
    return _terms(_shares(table), *_margins(table)).sum()


@accepts(table=TABLE)
def merge_losses(table: Tensor) -> Tensor:
    """The loss of `mutual_information` when classes i and j are merged, for each pair.

    Args:
        table: (C, C), how often class j directly follows class i.

    Returns:
        (C, C) in nats, symmetric; infinite on the diagonal.
    """
    share = _shares(table)  # p, (C, C)
    left, right = _margins(table)  # l and r, (C,)
    terms = _terms(share, left, right)
    of_one = terms.sum(1) + terms.sum(0) - terms.diag()  # all terms that contain a class
    losses = torch.full_like(share, torch.inf)
    for i in range(len(share) - 1):
        j = torch.arange(i + 1, len(share))
        old = of_one[i] + of_one[j] - terms[i, j] - terms[j, i]
        both_left, both_right = left[i] + left[j], right[i] + right[j]
        rows = _terms(share[i] + share[j], both_left, right)  # (·, C): the pair, then each class
        columns = _terms((share[:, i, None] + share[:, j]).T, both_right, left)
        others = torch.ones_like(rows)
        others[:, i] = 0
        others[torch.arange(len(j)), j] = 0
        itself = share[i, i] + share[i, j] + share[j, i] + share[j, j]
        new = ((rows + columns) * others).sum(1) + torch.special.xlogy(
            itself, itself / (both_left * both_right).clamp_min(1e-300)
        )
        losses[i, j] = losses[j, i] = old - new
    return losses


@accepts(text=instance(Text, "from `join_sentences`"), counts=counts("V"), classes=natural)
def brown_classes(text: Text, counts: Tensor, classes: int) -> Tensor:
    """Assign words to classes that preserve the mutual information of adjacent classes.

    The C most frequent words begin as classes of their own. Then each further word, in order of
    decreasing frequency, is added as a class, and of the C + 1 classes the two whose merge loses
    the least `mutual_information` on the words added so far are merged.

    Source: Brown et al. 1992, section 3, its second algorithm. Departs from it in that it does not
    exchange words between classes afterwards.

    Args:
        text: tokens of whole sentences; the first of a sentence does not follow the last.
        counts: (V,), how often each token occurs; a token with count 0 is left out.
        classes: C.

    Returns:
        (V,) long, the class of each token, 0 to C − 1; −1 for one that is left out. Fewer
        classes are used if there are fewer words.

    Raises:
        ValueError: the counts are too few for the text.
    """
    _check_words(text, counts)
    words = counts.argsort(descending=True, stable=True)[: int((counts > 0).sum())]
    first, second, times = _bigrams(text)
    class_of = torch.full((len(counts),), -1)  # the class of each word so far
    table = torch.zeros(0, 0, dtype=torch.double)
    for word in words.tolist():
        class_of[word] = len(table)
        table = _with_word(table, word, class_of, (first, second, times))
        if len(table) > classes:
            kept, lost = divmod(int(merge_losses(table).argmin()), len(table))
            table = _merged(table, kept, lost)
            class_of[class_of == lost] = kept
            class_of[class_of > lost] -= 1
    return class_of


def _with_word(table: Tensor, word: int, class_of: Tensor, bigrams: tuple) -> Tensor:
    """The table (C, C) with a class more, which holds one word alone: (C + 1, C + 1)."""
    first, second, times = bigrams
    size = len(table) + 1
    grown = table.new_zeros(size, size)
    grown[:-1, :-1] = table
    for here, there, out in ((first, second, grown[-1]), (second, first, grown[:, -1])):
        of_word = (here == word) & (class_of[there] >= 0)
        out.zero_().index_add_(0, class_of[there[of_word]], times[of_word])
    return grown


def _merged(table: Tensor, kept: int, lost: int) -> Tensor:
    """The table with class `lost` added to class `kept`, (C − 1, C − 1)."""
    table = table.clone()
    table[kept] += table[lost]
    table[:, kept] += table[:, lost]
    rest = torch.arange(len(table)) != lost
    return table[rest][:, rest]


def _bigrams(text: Text) -> tuple[Tensor, Tensor, Tensor]:
    """Each pair of adjacent words, and its count: three tensors (P,)."""
    together = text.sentence[1:] == text.sentence[:-1]
    pairs = torch.stack([text.tokens[:-1][together], text.tokens[1:][together]])
    pairs, times = pairs.unique(dim=1, return_counts=True)
    return pairs[0], pairs[1], times.double()


def _shares(table: Tensor) -> Tensor:
    table = table.double()  # before the sum, which would overflow in half precision
    return table / table.sum().clamp_min(torch.finfo(torch.double).tiny)  # of nothing: zeros


def _margins(table: Tensor) -> tuple[Tensor, Tensor]:
    return _shares(table).sum(1), _shares(table).sum(0)


def _terms(share: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """The terms p log(p / (l r)) for p (…, C) with l, a row each, and r (C,); 0 where p is 0."""
    return torch.special.xlogy(share, share / (left[:, None] * right).clamp_min(1e-300))


def _check_words(text: Text, counts: Tensor) -> None:
    if len(text.tokens) and int(text.tokens.max()) >= len(counts):
        raise ValueError(
            f"counts must be of all tokens up to {int(text.tokens.max())}, got {len(counts)}"
        )
