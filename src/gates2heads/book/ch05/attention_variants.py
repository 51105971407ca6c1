"""Chapter 5, kinds of attention: the five models of the comparison, and hard attention's loss."""

from torch import Tensor

from gates2heads.accepts import accepts, choice, flag, instance, natural
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


@accepts(way=choice(WAYS), source_size=natural, target_size=natural, window=natural)
def looking_model(way: str, source_size: int, target_size: int, *, window: int = 3):
    """Build a model with one of five kinds of attention, each in the decoder that it belongs to.

    Args:
        way: `before` attends before the step, to all positions, as Bahdanau's decoder does. The
            others attend after it, as Luong's does: `after` to all positions, `hard` to one sampled
            position, `monotonic` and `predictive` to a window.
        source_size, target_size: the two vocabulary sizes.
        window: half-width of the window of local attention, in tokens.
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


@accepts(pair=instance(DatePair, "as `dates` draws"))
def year_first(pair: DatePair) -> bool:
    """Whether the date has its parts in the order of ISO 8601: it begins with the year."""
    return pair.text.startswith(pair.iso[:4])


@accepts(baseline=flag, reinforce=flag)
class SampledLoss:
    """Train a model with hard attention: its outputs and its samples, from one sample per step.

    Source: Xu et al. 2015, eq. 12, without its entropy term: the reward of a sample is
    the log-probability of the whole target, and the baseline a moving average of it.

    Args:
        baseline: False leaves the baseline out.
        reinforce: False leaves REINFORCE out, so that nothing trains the scores.
    """

    def __init__(self, *, baseline: bool = True, reinforce: bool = True):
        self.baseline = MovingBaseline() if baseline else None
        self.reinforce = reinforce

    @accepts(batch=instance(Batch, "as `collate` makes"))
    def __call__(self, model: SequenceToSequence, batch: Batch) -> Tensor:
        """The loss on a batch of B pairs: a number, in nats per token.

        Raises:
            TypeError: it is no such batch, or the model does not sample positions.
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
        loss = -reward.mean()  # trains the outputs
        if self.reinforce:  # trains the samples
            expected = self.baseline.update(reward) if self.baseline else 0.0
            loss = loss + reinforce_loss(reward, choices, baseline=expected, mask=real)
        return loss * len(batch) / real.sum()
