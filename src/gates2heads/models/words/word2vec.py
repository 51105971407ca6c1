"""Word2vec: skip-gram and continuous bag of words, with three output layers."""

from torch import Tensor, nn

from gates2heads.accepts import Call, accepts, bools, choice, counts, instance, natural, tokens
from gates2heads.data.batches.windows import Windows
from gates2heads.models.words.block_kernel import RowAdagrad
from gates2heads.models.words.outputs import OUTPUTS

ARCHITECTURES = ("skip-gram", "cbow")


@accepts(
    counts=counts("V"),
    vector_size=natural,
    architecture=choice(ARCHITECTURES),
    output=choice(OUTPUTS),
)
class Word2Vec(nn.Module):
    """Skip-gram or continuous bag of words, with one of three outputs.

    Skip-gram guesses each word of the window from the center: h = v_c. CBOW guesses the center
    from the mean of the window: h = v̄_o.

    Source: Mikolov et al. 2013, "Efficient Estimation", section 3; and "Distributed
    Representations", sections 2.1 and 2.2. Departs from them in nothing.

    Args:
        counts: (V,), how often each token number occurs.
        vector_size: width D.
        architecture: `skip-gram` or `cbow`.
        output: `softmax`, `negative-sampling` or `hierarchical-softmax`.
        **choices: of the output, such as `negatives`.
    """

    def __init__(
        self,
        counts: Tensor,
        vector_size: int = 100,
        *,
        architecture: str = "skip-gram",
        output: str = "negative-sampling",
        **choices,
    ):
        super().__init__()
        self.architecture = architecture
        self.vectors = nn.Embedding(len(counts), vector_size)
        nn.init.uniform_(self.vectors.weight, -0.5 / vector_size, 0.5 / vector_size)
        self.output = OUTPUTS[output](counts, vector_size, **choices)
        self.register_buffer("counts", counts.float())

    def input_rows(self) -> RowAdagrad:
        """The table of input vectors, as `train_negative_sampling` reads and changes it."""
        return RowAdagrad(self.vectors.weight.data)

    def word_vectors(self) -> Tensor:
        """The input vectors (V, D) of all words."""
        return self.vectors.weight.detach()

    @accepts(batch=instance(Windows, "from `windows`"))
    def predictions(self, batch: Windows) -> tuple[Tensor, Tensor]:
        """The predictions of a batch: hidden (N, D), and the target word (N,) of each row.

        Skip-gram: one row for each word of each window, N = number of True in the mask. CBOW: one
        row for each window that is not empty.

        Raises:
            TypeError, ValueError: a token number, mask or shape is wrong.
        """
        _check_windows(self, batch, self.vectors.num_embeddings)
        if self.architecture == "skip-gram":
            row, column = batch.mask.nonzero(as_tuple=True)
            return self.vectors(batch.center[row]), batch.context[row, column]
        size = batch.mask.sum(1, keepdim=True)  # (B, 1)
        rows = size[:, 0] > 0
        share = batch.mask.to(self.vectors.weight.dtype)[rows] / size[rows]
        mean = (self.vectors(batch.context[rows]) * share[:, :, None]).sum(1)
        return mean, batch.center[rows]

    def forward(self, batch: Windows) -> Tensor:
        """The mean loss of all predictions of a batch, in nats; a scalar.

        Raises:
            TypeError, ValueError: a token number, mask or shape is wrong, or no window holds a
                word.
        """
        hidden, target = self.predictions(batch)
        if not len(target):
            raise ValueError("batch holds no window with a word in it")
        return self.output(hidden, target).mean()


def _check_windows(model: nn.Module, batch: Windows, size: int) -> None:
    """Reject windows of inconsistent shapes, or with words outside the vocabulary."""
    call = Call({"self": model})
    tokens("B", below=size).check("center", batch.center, call)
    tokens("B W", below=size).check("context", batch.context, call)
    bools("B W").check("mask", batch.mask, call)
