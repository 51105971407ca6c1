"""Chapter 4, baseline: a network that outputs one character for each that it reads."""

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, choice, instance, module, natural
from gates2heads.data.batches.pairs import Batch
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.layers.recurrent import GRU
from gates2heads.training.losses import cross_entropy

LONGEST = 512  # tokens of a source
READS = ("one character", "forwards", "both ways")


@accepts(
    source_size=natural,
    target_size=natural,
    reads=choice(READS),
    embedding_size=natural,
    hidden_size=natural(least=2),
    num_layers=natural(least=1),
)
class Tagger(nn.Module):
    """Write one token at each position of the source; position t of the answer is made there.

    Args:
        source_size, target_size: the two vocabulary sizes.
        reads: what a position knows: "one character", its own; "forwards", those before it too;
            "both ways", the whole source.
        embedding_size: width of the token vectors.
        hidden_size: width U of the states, of both directions together.
        num_layers: of the recurrent network.
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        *,
        reads: str = "forwards",
        embedding_size: int = 32,
        hidden_size: int = 128,
        num_layers: int = 1,
    ):
        super().__init__()
        self.embedding = nn.Embedding(source_size, embedding_size)
        self.recurrent, width = None, embedding_size
        if reads != "one character":
            both = reads == "both ways"
            units = hidden_size // 2 if both else hidden_size
            self.recurrent = GRU(embedding_size, units, bidirectional=both, num_layers=num_layers)
            width = units * (1 + both)
        self.readout = nn.Linear(width, target_size)

    @accepts(batch=instance(Batch, "as `collate` makes"))
    def forward(self, batch: Batch) -> Tensor:
        """Logits (B, S, V) of a batch: row t predicts position t of the target.

        Raises:
            ValueError: a source is too long.
        """
        if batch.source.shape[1] > LONGEST:
            length = batch.source.shape[1]
            raise ValueError(f"batch must hold sources of at most {LONGEST} tokens, got {length}")
        states = self.embedding(batch.source)
        if self.recurrent is not None:
            states, _ = self.recurrent(states, mask=batch.source_mask)
        return self.readout(states)


@accepts(batch=instance(Batch, "as `collate` makes"))
def at_their_places(batch: Batch) -> Tensor:
    """The target of each source position, (B, S): padding after the end of the target.

    Target tokens beyond the length of the source are left out.
    """
    wanted = torch.full_like(batch.source, Vocabulary.pad)
    places = min(wanted.shape[1], batch.target_out.shape[1])
    wanted[:, :places] = batch.target_out[:, :places]
    return wanted


@accepts(model=module)
def tagging_loss(model: nn.Module, batch: Batch) -> Tensor:
    """Mean cross-entropy over all positions of the sources, in nats."""
    return cross_entropy(model(batch), at_their_places(batch), mask=batch.source_mask)


@accepts(model=module)
def tagged(model: nn.Module, batch: Batch, target) -> list[str]:
    """The output of a network for each source of a batch, up to its first `<eos>`.

    Args:
        model: such as `Tagger`.
        batch: B pairs; the targets are ignored.
        target: the tokenizer of the output.

    Raises:
        TypeError: `target` is not a tokenizer.
        ValueError: as in `Tagger.forward`.
    """
    known = isinstance(getattr(target, "vocabulary", None), Vocabulary)
    if not (known and hasattr(target, "decode")):
        raise TypeError(f"target must be a tokenizer, got {type(target).__name__}")
    with torch.no_grad():
        tokens = model(batch).argmax(dim=-1).masked_fill(~batch.source_mask, Vocabulary.pad)
    return [target.decode(row) for row in tokens.tolist()]
