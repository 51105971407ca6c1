"""Chapter 5, other ways to look: the five models that it compares, and the loss of a hard one."""

from torch import Tensor

from gates2heads.accepts import a, accepts, choice, count, flag
from gates2heads.data.batches.pairs import Batch
from gates2heads.data.corpora.dates import DatePair
from gates2heads.layers.attention.hard import HardAttention, MovingBaseline, reinforce_loss
from gates2heads.layers.attention.local import LocalAttention
from gates2heads.layers.attention.scores import DotScore
from gates2heads.layers.attention.single_head import Attention
from gates2heads.models.translation.decoders import BahdanauDecoder, LuongDecoder
from gates2heads.models.translation.encoders import RecurrentEncoder
from gates2heads.models.translation.seq2seq import SequenceToSequence

WAYS = ("before", "after", "hard", "monotonic", "predictive")
EMBEDDING, UNITS = 32, 64


@accepts(way=choice(WAYS), source_size=count, target_size=count, window=count)
def looking_model(way: str, source_size: int, target_size: int, *, window: int = 3):
    """A model that looks at its source in one of five ways, each in the decoder that it belongs to.

    Args:
        way: `before` looks before the step, everywhere, as Bahdanau's decoder does. The others
            look after it, as Luong's does: `after` everywhere, `hard` at one drawn position,
            `monotonic` and `predictive` into a window.
        source_size, target_size: the two vocabulary sizes.
        window: D of the two local ways, in tokens.
    """
    score = DotScore(UNITS, UNITS)
    attention = {
        "hard": lambda: HardAttention(score),
        "monotonic": lambda: LocalAttention(score, window),
        "predictive": lambda: LocalAttention(score, window, predictive=True),
    }.get(way, lambda: Attention(score))()
    encoder = RecurrentEncoder(source_size, EMBEDDING, UNITS, bidirectional=True)
    if way == "before":
        decoder = BahdanauDecoder(target_size, EMBEDDING, UNITS, attention)
    else:
        decoder = LuongDecoder(target_size, EMBEDDING, UNITS, attention, cell="gru")
    return SequenceToSequence(encoder, decoder)


@accepts(pair=a(DatePair, "as `dates` draws"))
def year_first(pair: DatePair) -> bool:
    """Whether the text names the parts in the order of ISO 8601: it begins with the year."""
    return pair.text.startswith(pair.iso[:4])


@accepts(baseline=flag, reinforce=flag)
class SampledLoss:
    """Teach a model with hard attention what to write and where to look, from one draw a step.

    Source: Xu et al. 2015, eq. 12, without its entropy term: the reward of a draw is the
    log-probability of the whole target, and the baseline a moving average of it.

    Args:
        baseline: False leaves the baseline out.
        reinforce: False leaves REINFORCE out, so that the scores learn by accident alone.
    """

    def __init__(self, *, baseline: bool = True, reinforce: bool = True):
        self.usual = MovingBaseline() if baseline else None
        self.reinforce = reinforce

    @accepts(batch=a(Batch, "as `collate` makes"))
    def __call__(self, model: SequenceToSequence, batch: Batch) -> Tensor:
        """The loss on a batch of B pairs: a number, in nats per token.

        Raises:
            TypeError: it is no such batch, or the model does not draw where to look.
        """
        if not isinstance(
            getattr(getattr(model, "decoder", None), "attention", None), HardAttention
        ):
            raise TypeError(f"model must have hard attention, got {type(model).__name__}")
        with model.decoder.attention.choices() as choices:
            log_probs = model(batch).log_softmax(-1)  # (B, T, V)
        real = batch.target_mask
        right = log_probs.gather(2, batch.target_out[..., None])[..., 0]  # (B, T)
        reward = right.masked_fill(~real, 0.0).sum(1)  # (B,)
        loss = -reward.mean()  # what to write
        if self.reinforce:  # where to look
            usual = self.usual.update(reward) if self.usual else 0.0
            loss = loss + reinforce_loss(reward, choices, baseline=usual, mask=real)
        return loss * len(batch) / real.sum()
