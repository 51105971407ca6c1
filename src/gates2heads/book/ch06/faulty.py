"""Chapter 6, find the bug: a counter of letters, correct or with one bug in its heads."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, any_seed, boolean_mask, flag, module, natural, tokens
from gates2heads.accepts.shown import shown
from gates2heads.grading.paper import bug_check
from gates2heads.layers.attention.key_values import KeyValues
from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.layers.masks import key_mask
from gates2heads.training.losses import cross_entropy

LETTERS, LENGTH, MOST = 12, 16, 4  # different letters, letters in a string, "4 or more"
WIDTH, HEADS = 64, 4
FAULTS = {
    "a": "the softmax runs over the queries instead of the keys",
    "b": "the scores are not divided by √K",
    "c": "positional encodings are added, although the order is irrelevant in this task",
    "d": "the vectors are split into heads without transposing the position and head axes",
}


class FaultyHeads(MultiHeadAttention):
    """The library's multi-head attention with one bug, which the reader is to find."""

    def _project_all(self, inputs, *, start=0):
        """As in `MultiHeadAttention`, except for the bug."""
        batch, length, width = inputs.shape
        projected = F.linear(inputs, self.in_proj_weight, self.in_proj_bias).chunk(3, dim=-1)
        shape = batch, self.num_heads, length, width // self.num_heads
        queries, keys, values = (part.reshape(shape) for part in projected)
        return queries, KeyValues(keys, values)


@accepts(faulty=flag)
class Counter(nn.Module):
    """Output for every letter how often it occurs in the string: 1, 2, 3, or at least 4 times.

    The order is irrelevant, so there is no positional encoding.

    Args:
        faulty: use `FaultyHeads` instead of the library's attention.
    """

    def __init__(self, *, faulty: bool = False):
        super().__init__()
        self.embedding = nn.Embedding(LETTERS, WIDTH)
        self.attention = (FaultyHeads if faulty else MultiHeadAttention)(WIDTH, HEADS)
        self.hidden, self.readout = nn.Linear(2 * WIDTH, WIDTH), nn.Linear(WIDTH, MOST)

    @accepts(text=tokens("B S", below=LETTERS), mask=boolean_mask("B S"))
    def forward(self, text: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """Logits (B, S, 4) for text (B, S); where mask (B, S) is False, a letter is hidden."""
        vectors = self.embedding(text)
        seen = self.attention(vectors, mask=key_mask(mask))
        return self.readout(self.hidden(torch.cat([vectors, seen], -1)).relu())


@accepts(count=natural, seed=any_seed)
def texts(count: int, *, seed: int = 0) -> Iterator[Tensor]:
    """Yield random batches of strings (B, 16) indefinitely; B = count."""
    draw = torch.Generator().manual_seed(int(seed))  # may be NumPy's
    while True:
        yield torch.randint(LETTERS, (count, LENGTH), generator=draw)


@accepts(text=tokens("B S", below=LETTERS))
def counted(text: Tensor) -> Tensor:
    """The targets for text (B, S), long (B, S): 0 for a letter that occurs once."""
    return (text[:, :, None] == text[:, None]).sum(-1).clamp(max=MOST) - 1


@accepts(counter=module, text=tokens("B S", below=LETTERS))
def counting_loss(counter: nn.Module, text: Tensor) -> Tensor:
    """Mean cross-entropy of the counts, in nats per letter.

    Args:
        counter: a `Counter`, or what trains one on several processes.
        text: (B, S), as `texts` samples it.

    Raises:
        TypeError: the counter is not a `Counter`.
    """
    if not isinstance(getattr(counter, "module", counter), Counter):
        raise TypeError(f"counter must be a Counter, got {shown(counter)}")
    return cross_entropy(counter(text), counted(text))


check_fault = bug_check(
    "Exercise 6.6",
    FAULTS,
    {
        "a": "Then the weights of a query would not sum to 1.",
        "b": "Then shuffling would change nothing: a scale does not depend on the order.",
        "c": "Then shuffling would change the answers, but a hidden letter would stay hidden.",
    },
    closing=", so that the positions of a head hold pieces of one and the same vector.",
)
