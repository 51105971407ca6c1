"""Word2vec: a word is known by the company it keeps. Two models, three ways to say how well."""

from torch import Tensor, nn

from gates2heads.checks.models import check_row
from gates2heads.checks.tensors import check_device, check_mask, check_tokens
from gates2heads.checks.values import check_choice, check_count
from gates2heads.data.batches.windows import Windows, check_counts
from gates2heads.models.words.outputs import OUTPUTS

ARCHITECTURES = ("skip-gram", "cbow")


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

    Raises:
        TypeError, ValueError: an unknown architecture or output, or what the output refuses.
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
        check_counts(counts)
        check_count("vector_size", vector_size)
        check_choice("architecture", architecture, ARCHITECTURES)
        check_choice("output", output, OUTPUTS)
        self.architecture = architecture
        self.vectors = nn.Embedding(len(counts), vector_size)
        nn.init.uniform_(self.vectors.weight, -0.5 / vector_size, 0.5 / vector_size)
        self.output = OUTPUTS[output](counts, vector_size, **choices)
        self.register_buffer("counts", counts.float())

    def predictions(self, batch: Windows) -> tuple[Tensor, Tensor]:
        """What a batch asks: hidden (N, D), and the word (N,) that each row must predict.

        Skip-gram: one row for each word of each window, N = number of True in the mask. CBOW: one
        row for each window that is not empty.

        Raises:
            TypeError, ValueError: it is no `Windows`, or a token number, mask or shape is wrong.
        """
        if not isinstance(batch, Windows):
            raise TypeError(f"batch must be Windows, got {type(batch).__name__}")
        check_device(self, context=batch.context, center=batch.center)
        check_tokens("context", batch.context, self.vectors.num_embeddings)
        check_row("center", batch.center, len(batch.context), self.vectors.num_embeddings)
        check_mask(batch.mask, batch.context.shape, like=batch.context)
        if batch.mask.shape != batch.context.shape:
            raise ValueError(
                f"mask must have the shape of context, {tuple(batch.context.shape)}, got "
                f"{tuple(batch.mask.shape)}"
            )
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
