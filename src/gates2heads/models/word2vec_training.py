"""Train word2vec by negative sampling with matrix products, as fast as the C program's heirs."""

from dataclasses import dataclass, field
from time import perf_counter

import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

from gates2heads.data.checks import check_count, check_positive
from gates2heads.data.windows import Blocks, Text, cut_blocks, keep_probabilities, subsample
from gates2heads.models.word2vec import NegativeSampling, Word2Vec

PIECE = 1_000_000  # tokens that are cut into blocks at once: bounds the memory
WIDTH = 16  # positions a block; wider blocks waste more of the score matrix
SHARED = 16  # noise words a block; fewer are faster, and move fewer vectors
LOOK_EVERY = 16  # batches between two looks at the loss, which costs a tenth of a step


@dataclass
class WordHistory:
    """How a training went."""

    loss: list[float] = field(default_factory=list)  # nats a prediction, of each epoch
    words: int = 0  # tokens read, those that subsampling threw out included
    seconds: float = 0.0


class RowAdagrad:
    """Adagrad with one step size a row: lr / sqrt(sum over steps of the row's mean square).

    A frequent word gets many gradients in one batch, a rare one few; without this the frequent
    ones diverge at a rate at which the rare ones do not yet move.

    Source: Duchi et al. 2011, section 1.1. Departs from it in that a row of D numbers shares one
    sum, so that the state is one number a word.

    Args:
        weight: (V, D), changed in place.
    """

    def __init__(self, weight: Tensor):
        self.weight = weight
        self.squares = torch.full_like(weight[:, 0], 1e-6)

    def step(self, rows: Tensor, gradient: Tensor, rate: float) -> None:
        """Add up the gradients (n, D) of rows (n,), which may repeat, and take one step."""
        distinct, place = torch.unique(rows, return_inverse=True)
        total = gradient.new_zeros(len(distinct), gradient.shape[1])
        total.index_add_(0, place.view(-1), gradient)
        squares = self.squares[distinct] + total.square().mean(1)
        self.squares.index_copy_(0, distinct, squares)
        self.weight.index_add_(0, distinct, total.mul_((-rate / squares.sqrt())[:, None]))


def score_gradients(hidden: Tensor, output: Tensor, weight: Tensor, positives: int):
    """The gradients of a block's weighted negative-sampling loss, without autograd.

    With s = hidden · output: the loss of a right word is −log σ(s), its slope σ(s) − 1; that of a
    drawn word −log σ(−s), its slope σ(s).

    Args:
        hidden: (N, k, D).
        output: (N, c, D); the first `positives` of the c vectors belong to right words.
        weight: (N, k, c), how much each pair counts; 0 for a pair that is not there.
        positives: as said.

    Returns:
        the scores (N, k, c), and the gradients of hidden and of output.
    """
    scores = torch.bmm(hidden, output.transpose(1, 2))
    slope = scores.sigmoid()
    slope[..., :positives] -= 1
    slope *= weight
    return scores, torch.bmm(slope, output), torch.bmm(slope.transpose(1, 2), hidden)


def pair_weights(blocks: Blocks, architecture: str, negatives: int) -> Tensor:
    """How much each pair of a block counts: (N, k, right words + noise words).

    Each right word counts 1. The noise words of the block share what K noise words a right word
    would count. Skip-gram's right words are the k + 2m around, CBOW's are the k centers, each
    right for its own row.
    """
    right = blocks.band.float()
    if architecture == "cbow":
        right = torch.diag_embed(blocks.band.any(2).float())  # (N, k, k)
    noise = right.sum(2, keepdim=True) * (negatives / SHARED)
    return torch.cat([right, noise.expand(-1, -1, SHARED)], dim=2)


def train_negative_sampling(
    model: Word2Vec,
    text: Text,
    *,
    epochs: int = 5,
    window: int = 5,
    threshold: float = 1e-3,
    learning_rate: float = 0.2,
    batch_size: int = 64,
    seed: int = 0,
    progress: bool = True,
) -> WordHistory:
    """Train a model whose output is `NegativeSampling`, in place.

    The text is cut into blocks of 16 positions. One matrix product scores the centers of a block
    against all words around them and against 16 noise words that the block shares; a band says
    which pairs count. The blocks are shuffled.

    Source: Mikolov et al. 2013, "Distributed Representations", section 2. Departs from it in that
    the pairs of a block share their noise words, and in Adagrad instead of plain descent; see Ji
    et al. 2016, "Parallelizing Word2Vec in Shared and Distributed Memory", for sharing.

    Args:
        model: its counts must be those of the text.
        text: tokens of whole sentences.
        epochs: how often the text is read.
        window: m, the farthest word that a center sees.
        threshold: of `keep_probabilities`; words above this share of the text are thinned out.
        learning_rate: at the start; falls to zero in a straight line.
        batch_size: blocks of 16 positions a step.
        seed: draws windows, noise, order and which words stay.
        progress: show a bar.

    Returns:
        The loss of each epoch, the words read, and the seconds.

    Raises:
        TypeError, ValueError: the model has another output, or an argument is out of range.
        FloatingPointError: a vector is no longer finite.
    """
    check_training(model, text, epochs=epochs, batch_size=batch_size, learning_rate=learning_rate)
    generator = torch.Generator().manual_seed(seed)
    keep = keep_probabilities(model.counts.cpu(), threshold)
    tables = [RowAdagrad(part.vectors.weight.data) for part in (model, model.output)]
    starts = range(0, len(text.tokens), PIECE)
    history, begin = WordHistory(), perf_counter()
    bar = tqdm(total=epochs * len(starts), desc="word vectors", unit="piece", disable=not progress)
    for epoch in range(epochs):
        total = torch.zeros(2, dtype=torch.double)  # loss, predictions
        for number, start in enumerate(starts):
            piece = Text(*(part[start : start + PIECE] for part in text))
            left = 1 - (epoch + number / len(starts)) / epochs
            rates = learning_rate * left, learning_rate * (left - 1 / (epochs * len(starts)))
            piece = subsample(piece, keep, generator=generator)
            if len(piece.tokens):
                blocks = cut_blocks(piece, width=WIDTH, window=window, generator=generator)
                total += read_blocks(model, tables, blocks, rates, batch_size, generator)
            bar.update()
        history.words += len(text.tokens)
        history.loss.append(float(total[0] / total[1].clamp(min=1)))
        if not all(table.weight.isfinite().all() for table in tables):
            raise FloatingPointError(f"a word vector became infinite in epoch {epoch + 1}")
    bar.close()
    history.seconds = perf_counter() - begin
    return history


def read_blocks(
    model: Word2Vec,
    tables: list[RowAdagrad],
    blocks: Blocks,
    rates: tuple[float, float],
    batch_size: int,
    generator: torch.Generator,
) -> Tensor:
    """Go through blocks once in random order, the rate falling; returns loss and predictions."""
    device, architecture = model.vectors.weight.device, model.architecture
    noise = torch.multinomial(
        model.output.noise.cpu(), len(blocks.center) * SHARED, replacement=True, generator=generator
    ).view(-1, SHARED)
    weight = pair_weights(blocks, architecture, model.output.negatives).to(device)
    right = blocks.context if architecture == "skip-gram" else blocks.center
    asked = torch.cat([right, noise], dim=1).to(device)  # the words that are scored
    center, context, band = (part.to(device) for part in blocks)
    order = torch.randperm(len(center), generator=generator).to(device).split(batch_size)
    total = torch.zeros(2, dtype=torch.double)
    inputs, outputs = tables
    for step, rows in enumerate(order):
        rate = rates[0] + (rates[1] - rates[0]) * step / len(order)
        vectors = F.embedding(asked[rows], outputs.weight)
        if architecture == "skip-gram":
            read, share = center[rows], None
            hidden = F.embedding(read, inputs.weight)
        else:
            read, share = context[rows], band[rows].float()
            share /= share.sum(2, keepdim=True).clamp(min=1)
            hidden = share @ F.embedding(read, inputs.weight)  # the mean of each window
        scores, slope, vector_slope = score_gradients(hidden, vectors, weight[rows], right.shape[1])
        if share is not None:
            slope = share.transpose(1, 2) @ slope
        inputs.step(read, slope.flatten(0, 1), rate)
        outputs.step(asked[rows], vector_slope.flatten(0, 1), rate)
        if step % LOOK_EVERY == 0:
            total += loss_of(scores, weight[rows], right.shape[1])
    return total


def loss_of(scores: Tensor, weight: Tensor, positives: int) -> Tensor:
    """The summed negative-sampling loss of scored pairs in nats, and the number of right words."""
    right, noise = scores.split([positives, scores.shape[2] - positives], dim=2)
    loss = torch.cat([F.softplus(-right), F.softplus(noise)], dim=2) * weight
    return torch.stack([loss.sum(), weight[..., :positives].sum()]).double().cpu()


@torch.no_grad()
def expected_loss(model: Word2Vec, text: Text, *, window: int = 5) -> float:
    """The negative-sampling loss of a skip-gram model on a text, with no draw left to chance.

    Every window of 1 to m words counts alike, and the noise words are weighed by how often they
    would be drawn instead of drawn. So two trainings can be compared to the third digit.

    Args:
        model: skip-gram with `NegativeSampling`.
        text: what to measure on, not thinned out.
        window: m.

    Returns:
        nats a (center, word) pair.

    Raises:
        TypeError, ValueError: the model is another one, or the text is empty.
    """
    check_training(model, text, epochs=1, batch_size=1, learning_rate=1.0)
    check_count("window", window)
    if model.architecture != "skip-gram":
        raise ValueError(f"model must be a skip-gram model, got {model.architecture!r}")
    vectors, outputs = model.vectors.weight, model.output.vectors.weight
    drawn = [F.softplus(part @ outputs.T) @ model.output.noise for part in vectors.split(1024)]
    noise = model.output.negatives * torch.cat(drawn)  # (V,): what each center pays for noise
    total = pairs = 0.0
    for distance in range(1, min(window + 1, len(text.tokens))):
        together = text.sentence[distance:] == text.sentence[:-distance]
        first, second = text.tokens[:-distance][together], text.tokens[distance:][together]
        share = (window - distance + 1) / window  # the windows of 1 to m words that reach so far
        for center, word in ((first, second), (second, first)):
            scores = (vectors[center] * outputs[word]).sum(1)
            total += share * float((F.softplus(-scores) + noise[center]).sum())
            pairs += share * len(center)
    if not pairs:
        raise ValueError("text holds no two words in one sentence")
    return total / pairs


def check_training(model, text, *, epochs: int, batch_size: int, learning_rate: float) -> None:
    """Refuse a model without negative sampling, a foreign text, and numbers out of range."""
    if not isinstance(model, Word2Vec) or not isinstance(model.output, NegativeSampling):
        raise TypeError("model must be a Word2Vec with output='negative-sampling'")
    if not isinstance(text, Text):
        raise TypeError(f"text must come from join_sentences, got {type(text).__name__}")
    if not len(text.tokens):
        raise ValueError("text is empty; it must hold at least one token")
    low, high = int(text.tokens.min()), int(text.tokens.max())
    if low < 0 or high >= len(model.counts):
        wrong = low if low < 0 else high
        raise ValueError(f"text must hold numbers 0 to {len(model.counts) - 1}, got {wrong}")
    check_count("epochs", epochs)
    check_count("batch_size", batch_size)
    check_positive("learning_rate", learning_rate)
