"""Train word2vec by negative sampling with matrix products."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

from gates2heads.accepts import accepts, any_seed, flag, instance, natural, positive
from gates2heads.data.batches.windows import Text, cut_blocks, keep_probabilities, subsample
from gates2heads.models.words.block_kernel import (
    RowAdagrad,
    draw_noise,
    loss_of,
    pair_weights,
    score_gradients,
)
from gates2heads.models.words.outputs import NegativeSampling
from gates2heads.models.words.word2vec import Word2Vec

PIECE = 1_000_000  # tokens that are cut into blocks together: bounds the memory
WIDTH = 16  # positions per block; wider blocks waste more of the score matrix
LOOK_EVERY = 16  # batches between two evaluations of the loss, which costs a tenth of a step
SENTENCES = instance(Text, "from `join_sentences`")


@dataclass
class WordHistory:
    """The course of a training run."""

    loss: list[float] = field(default_factory=list)  # nats per prediction, of each epoch
    words: int = 0  # tokens processed, including those that subsampling removed
    seconds: float = 0.0


class BlockTrainer:
    """Trains a model on pieces of text; `train_negative_sampling` explains its arguments."""

    def __init__(
        self,
        model: Word2Vec,
        *,
        window: int,
        threshold: float,
        learning_rate: float,
        batch_size: int,
        workers: int,
        seed: int,
    ):
        self.model, self.window, self.batch_size = model, window, int(batch_size)
        self.learning_rate, self.workers = learning_rate, workers
        self.keep = keep_probabilities(model.counts.cpu(), threshold)
        self.noise = model.output.noise.cpu()
        self.inputs = model.input_rows()
        self.outputs = RowAdagrad(model.output.vectors.weight.data)
        self.generator = torch.Generator().manual_seed(int(seed))

    def read_piece(self, piece: Text, begin: float, end: float) -> Tensor:
        """Process a piece once, while the finished fraction goes from `begin` to `end`.

        Returns:
            (2,) loss in nats and number of observed words, of one batch in sixteen.
        """
        total = torch.zeros(2, dtype=torch.double)
        piece = subsample(piece, self.keep, generator=self.generator)
        if not len(piece.tokens):
            return total
        blocks = cut_blocks(piece, width=WIDTH, window=self.window, generator=self.generator)
        drawn = draw_noise(self.noise, len(blocks.center), self.generator)
        steps = -(-len(drawn) // self.batch_size)
        rates = (self.learning_rate * (1 - torch.linspace(begin, end, steps + 1))).tolist()
        batches = zip(*(part.tensor_split(steps) for part in (*blocks, drawn)), strict=True)

        def read(step: int, batch: tuple[Tensor, ...]) -> None:
            scored = self.read_batch(*batch, rates[step])
            if step % LOOK_EVERY == 0:
                total.add_(loss_of(*scored))

        if self.workers == 1:
            for step, batch in enumerate(batches):
                read(step, batch)
        else:
            with ThreadPoolExecutor(self.workers) as pool:
                list(pool.map(read, range(steps), batches))  # a list, so that errors are raised
        return total

    def read_batch(self, center: Tensor, context: Tensor, band: Tensor, drawn: Tensor, rate: float):
        """One step on one batch of blocks; returns what `loss_of` needs."""
        device, architecture = self.inputs.weight.device, self.model.architecture
        center, context, band, drawn = (x.to(device) for x in (center, context, band, drawn))
        right, noise = pair_weights(band, architecture, self.model.output.negatives)
        if architecture == "skip-gram":
            read, asked = center, torch.cat([context, drawn], dim=1)
            hidden = self.inputs.look_up(center)
        else:
            read, asked = context, torch.cat([center, drawn], dim=1)
            share = band / band.sum(2, keepdim=True).clamp(min=1)
            hidden = share @ self.inputs.look_up(context)  # the mean of each window
        output = self.outputs.look_up(asked)
        scores, slope, asked_slope = score_gradients(hidden, output, right, noise)
        if architecture == "cbow":
            slope = share.transpose(1, 2) @ slope
        self.inputs.step(read, slope.flatten(0, 1), rate)
        self.outputs.step(asked, asked_slope.flatten(0, 1), rate)
        return scores, right, noise


@accepts(
    model=instance(Word2Vec),
    text=SENTENCES,
    epochs=natural,
    window=natural,
    threshold=positive,
    learning_rate=positive,
    batch_size=natural,
    workers=natural,
    seed=any_seed,
    progress=flag,
)
def train_negative_sampling(
    model: Word2Vec,
    text: Text,
    *,
    epochs: int = 5,
    window: int = 5,
    threshold: float = 1e-3,
    learning_rate: float = 0.2,
    batch_size: int = 64,
    workers: int = 1,
    seed: int = 0,
    progress: bool = True,
) -> WordHistory:
    """Train a model whose output is `NegativeSampling`, in place.

    The text is cut into blocks of 16 positions. One matrix product scores the centers of a block
    against all words around them and against 16 noise words that the block shares; a band says
    which pairs count. The blocks are shuffled.

    Source: Mikolov et al. 2013, "Distributed Representations", section 2. Departs from it in that
    the pairs of a block share their noise words (Ji et al. 2016, "Parallelizing Word2Vec in Shared
    and Distributed Memory"), and in Adagrad instead of plain descent.

    Args:
        model: its counts must be those of the text.
        text: tokens of whole sentences.
        epochs: number of passes over the text.
        window: m, the largest distance from a center.
        threshold: of `keep_probabilities`; words above this fraction of the text are subsampled.
        learning_rate: at the start; decays linearly to zero.
        batch_size: blocks of 16 positions per step.
        workers: threads that update the same vectors without locks (Niu et
            al. 2011); with more than one, two runs are no longer equal to the last digit.
        seed: of the random windows, noise, order and subsampling.
        progress: show a bar.

    Returns:
        The loss of each epoch, the words processed, and the seconds.

    Raises:
        TypeError, ValueError: the model has another output, or does not know all of the text.
        FloatingPointError: a vector is no longer finite.
    """
    _check_words(model, text)
    history, begin = WordHistory(), perf_counter()
    trainer = BlockTrainer(
        model,
        window=window,
        threshold=threshold,
        learning_rate=float(learning_rate),
        batch_size=batch_size,
        workers=workers,
        seed=seed,
    )
    pieces = list(zip(*(part.split(PIECE) for part in text), strict=True))
    parts = epochs * len(pieces)
    bar = tqdm(total=parts, desc="word vectors", unit="piece", disable=not progress)
    with bar, threads_shared_by(workers):
        for epoch in range(epochs):
            total = torch.zeros(2, dtype=torch.double)
            for number, piece in enumerate(pieces, start=epoch * len(pieces)):
                total += trainer.read_piece(Text(*piece), number / parts, (number + 1) / parts)
                bar.update()
            history.words += len(text.tokens)
            history.loss.append(float(total[0] / total[1].clamp(min=1)))
            if not all(part.vectors.weight.isfinite().all() for part in (model, model.output)):
                raise FloatingPointError(
                    f"a word vector is not finite after epoch {epoch + 1}: the learning_rate "
                    f"{learning_rate:g} may be too large"
                )
    history.seconds = perf_counter() - begin
    return history


@contextmanager
def threads_shared_by(workers: int) -> Iterator[None]:
    """Divide PyTorch's threads among some threads, so that they do not block each other."""
    threads = torch.get_num_threads()
    if workers > 1:
        torch.set_num_threads(max(1, threads // workers))
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@torch.no_grad()
@accepts(model=instance(Word2Vec), text=SENTENCES, window=natural)
def expected_loss(model: Word2Vec, text: Text, *, window: int = 5) -> float:
    """The negative-sampling loss of a skip-gram model on a text, without random sampling.

    Every window of 1 to m words has the same weight, and instead of sampling noise words, all are
    weighted by their probability. So two training runs can be compared to the third digit.

    Args:
        model: skip-gram with `NegativeSampling`.
        text: the text to evaluate on, without subsampling.
        window: m.

    Returns:
        nats per (center, word) pair.

    Raises:
        TypeError, ValueError: the model has another architecture or output, or the text is empty.
    """
    _check_words(model, text)
    if model.architecture != "skip-gram":
        raise ValueError(f"model must be a skip-gram model, got {model.architecture}")
    vectors, outputs = model.word_vectors(), model.output.vectors.weight
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


def _check_words(model: Word2Vec, text: Text) -> None:
    """Reject a model without negative sampling, and a text with words that it does not know."""
    if not isinstance(model.output, NegativeSampling):
        kind = type(model.output).__name__
        raise TypeError(f"model must have output='negative-sampling', got {kind}")
    if not len(text.tokens):
        raise ValueError("text must hold at least one token, got none")
    low, high = (int(end) for end in text.tokens.aminmax())
    if low < 0 or high >= len(model.counts):
        wrong = low if low < 0 else high
        raise ValueError(f"text must hold numbers 0 to {len(model.counts) - 1}, got {wrong}")
