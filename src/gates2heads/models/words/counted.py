"""Counted word vectors: tf-idf over sentences, PPMI over windows, and a truncated SVD of either."""

import torch
from torch import Tensor

from gates2heads.accepts import accepts, any_seed, anything, instance, natural, number
from gates2heads.data.batches.windows import Text
from gates2heads.models.words.glove import PAIRS, Cooccurrences

ITERATIONS = 8  # of the power method, after which tests find no error above rounding


@accepts(text=instance(Text, "from `join_sentences`"), vocabulary_size=natural)
def tf_idf(text: Text, vocabulary_size: int) -> Tensor:
    """Word vectors over sentences: entry (w, s) is tf(w, s) · log(C / df(w)).

    The term frequency tf(w, s) is the number of times that word w occurs in sentence s, and the
    document frequency df(w) is the number of the C sentences that contain w.

    Source: Spärck Jones 1972, for the logarithm. Departs from scikit-learn's default in that the
    logarithm is neither smoothed nor increased by 1: a word of every sentence has a zero vector.

    Args:
        text: the sentences, each of which is one document.
        vocabulary_size: V.

    Returns:
        (V, C) sparse; zero in the rows of words that do not occur.

    Raises:
        ValueError: the text contains no token, or one that is not below V.
    """
    _check_tokens(text.tokens, vocabulary_size)
    sentences = int(text.sentence.max()) + 1
    entries = torch.stack([text.tokens, text.sentence])  # (2, N): word and sentence
    ones = torch.ones(len(text.tokens))
    shape = (vocabulary_size, sentences)
    frequency = torch.sparse_coo_tensor(entries, ones, shape, check_invariants=True).coalesce()
    word = frequency.indices()[0]  # each pair of a word and a sentence is one entry
    rarity = (sentences / word.bincount()[word]).log()
    return torch.sparse_coo_tensor(
        frequency.indices(), frequency.values() * rarity, shape, check_invariants=True
    ).coalesce()


@accepts(table=PAIRS, vocabulary_size=natural, power=number(least=0))
def ppmi(table: Cooccurrences, vocabulary_size: int, *, power: float = 1.0) -> Tensor:
    """Positive pointwise mutual information: entry (w, c) is max(0, log p(w, c) / (p(w) p(c))).

    Source: Church and Hanks 1990 for the information; Levy, Goldberg and Dagan 2015, section 3.2,
    for `power`: with p(c) in proportion to count(c)^0.75, rare contexts count less.

    Args:
        table: from `cooccurrences`.
        vocabulary_size: V.
        power: α of the context distribution; 1 leaves it unchanged.

    Returns:
        (V, V), in nats; row w is the vector of word w.

    Raises:
        ValueError: the table contains a word that is not below V, or a count that is not positive.
    """
    _check_tokens(torch.cat([table.row, table.column]), vocabulary_size)
    if not (table.count > 0).all():
        raise ValueError(f"table.count must be positive, got {float(table.count.min()):g}")
    times, nothing = table.count.double(), torch.zeros(vocabulary_size, dtype=torch.double)
    word = nothing.index_add(0, table.row, times) / times.sum()  # p(w), (V,)
    context = nothing.index_add(0, table.column, times).pow(power)
    context[nothing.index_add(0, table.column, times) == 0] = 0  # 0 to the power 0 is 1
    context = context / context.sum()  # p(c), (V,)
    expected = word[table.row] * context[table.column]
    vectors = torch.zeros(vocabulary_size, vocabulary_size)
    vectors[table.row, table.column] = (times / times.sum() / expected).log().clamp(min=0).float()
    return vectors


@accepts(
    matrix=anything("V C", empty=False), vector_size=natural, power=number(least=0), seed=any_seed
)
def svd_vectors(matrix: Tensor, vector_size: int, *, power: float = 0.5, seed: int = 0) -> Tensor:
    """Short vectors from long ones: U_D Σ_D^p, of the D largest singular values of a matrix.

    Of all matrices of rank D, U_D Σ_D V_Dᵀ is nearest to the given one (Eckart and Young 1936).

    Source: Levy, Goldberg and Dagan 2015, section 3.3: p = 1/2 gives better word vectors than 1.
    The decomposition is that of Halko et al. 2011, which begins with random directions.

    Args:
        matrix: (V, C), dense or sparse, such as from `ppmi` or `tf_idf`.
        vector_size: D.
        power: p, of the singular values; 0 gives every direction the same weight.
        seed: of the random directions; it changes the vectors by no more than rounding.

    Returns:
        (V, D), columns by falling singular value; the sign of a column is arbitrary.

    Raises:
        ValueError: D is larger than a side of the matrix.
    """
    natural(most=min(matrix.shape)).check("vector_size", vector_size)
    width = min(2 * vector_size + 10, *matrix.shape)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        left, values, _ = torch.svd_lowrank(matrix, q=width, niter=ITERATIONS)
    return left[:, :vector_size] * values[:vector_size].pow(power)


def _check_tokens(tokens: Tensor, vocabulary_size: int) -> None:
    if not len(tokens):
        raise ValueError("the text must contain at least one token, got none")
    low, high = (int(end) for end in tokens.aminmax())
    if low < 0 or high >= vocabulary_size:
        wrong = low if low < 0 else high
        raise ValueError(f"tokens must be numbers 0 to {vocabulary_size - 1}, got {wrong}")
