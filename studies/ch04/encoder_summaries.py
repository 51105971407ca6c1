"""Which encoder, and how should the decoder receive its summary? Section 4.6 shows the results.

    python -m studies.ch04.encoder_summaries --seeds 0 1 2
    python -m studies.ch04.encoder_summaries --table

A setting is an encoder–decoder without attention. It learns dates in eight languages by teacher
forcing, on 400 batches (`STEPS`) of 64, with 32-dimensional embeddings and 128-dimensional states.

The decoder reads the context vector `once`, as its first state, or at `every step`. Three variants
separate the effects of the latter. With `first state alone`, later steps read zeros in place of the
context. With `without its gradient`, the context is read at every step, but the gradient reaches
the encoder only through the first state. With `its gradient alone`, later steps read zeros, but the
gradient flows as if they had read the context. The first two variants are repeated with three times
the learning rate, and the first with four times the training. These two and `every step` are
repeated with a constant added to the input bias of the decoder's update gate, so that its first
states persist for longer.

A recurrent encoder reads forwards or both ways, in one or two layers. A convolutional encoder has
1, 2, 4 or 8 blocks of kernel size 3 (4 also with dilation), or one of kernel size 1, which sees no
neighbours; its context vector is the mean of its states. `half_way` and `right` are the shares of
1,000 test dates that are correct after half of the steps and after all.
"""

import torch

from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import endless_batches
from gates2heads.data.corpora.dates import dates
from gates2heads.data.tokens.characters import CharacterTokenizer, encode_pairs
from gates2heads.decoding.translation import translate
from gates2heads.metrics.exact_match import exact_match
from gates2heads.models.translation.by_name import recurrent_translator
from gates2heads.models.translation.encoders import ConvolutionalEncoder, RecurrentEncoder
from gates2heads.models.translation.seq2seq import Decoder, SequenceToSequence
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.schedules import warmup_linear

STEPS, BATCH_SIZE, TESTED, EMBEDDING, UNITS, RATE = 400, 64, 1000, 32, 128, 5e-3
BOTH, DEEP = {"bidirectional": True}, {"num_layers": 2}
RECURRENT = {  # of the encoder, for a decoder that reads the context at every step
    "every step, forwards": {},
    "every step, both ways": BOTH,
    "every step, both ways, two layers": BOTH | DEEP,
}
ONCE = {"once, both ways": {}, "once, both ways, two layers": DEEP}
FIRST_STATE = "first state alone, both ways"
DETACHED = "every step without its gradient, both ways"
GRADIENT = "every step, its gradient alone, both ways"
LONGER = ", four times the training"
FASTER = ", three times the learning rate"
BIASES = {", update-gate bias +2": 2.0, ", update-gate bias +4": 4.0}
BLOCKS = {f"convolutions, {depth}": [1] * depth for depth in (1, 2, 4, 8)}
BLOCKS["convolutions, 4, dilated"] = [1, 2, 4, 8]
NO_NEIGHBOURS = "convolutions, 1, kernel size 1"


class FirstState(Decoder):
    """The library's decoder, which sees the context in its first state and then zeros."""

    def start(self, states, summary, *, mask):
        """As in `Decoder`, but for the summary that later steps read, (B, U)."""
        state = super().start(states, summary, mask=mask)
        memory = state.memory._replace(summary=torch.zeros_like(summary))
        return state._replace(memory=memory)


class DetachedDecoder(Decoder):
    """The library's decoder, which reads the context at every step without a gradient to it."""

    def start(self, states, summary, *, mask):
        """As in `Decoder`; only the first state leads a gradient back to the summary (B, U)."""
        state = super().start(states, summary, mask=mask)
        return state._replace(memory=state.memory._replace(summary=summary.detach()))


class GradientAlone(Decoder):
    """The library's decoder, which reads zeros with the gradient of the context."""

    def start(self, states, summary, *, mask):
        """As in `Decoder`, but later steps read zeros with a gradient to the summary (B, U)."""
        state = super().start(states, summary, mask=mask)
        zeros = summary - summary.detach()
        return state._replace(memory=state.memory._replace(summary=zeros))


DECODERS = {FIRST_STATE: FirstState, DETACHED: DetachedDecoder, GRADIENT: GradientAlone}


def build(setting: str, source_size: int, target_size: int) -> SequenceToSequence:
    """The model of a setting, randomly initialised."""
    for suffix, bias in BIASES.items():
        if setting.endswith(suffix):
            model = build(setting.removesuffix(suffix), source_size, target_size)
            with torch.no_grad():
                model.decoder.cell.bias_ih.chunk(3)[1].add_(bias)  # reset, update, candidate
            return model
    setting = setting.removesuffix(LONGER).removesuffix(FASTER)
    if setting in ONCE:
        return recurrent_translator(
            source_size,
            target_size,
            embedding_size=EMBEDDING,
            hidden_size=UNITS,
            dropout=0.0,
            **ONCE[setting],
        )
    if setting in DECODERS:
        encoder = RecurrentEncoder(source_size, EMBEDDING, UNITS, **BOTH)
        return SequenceToSequence(encoder, DECODERS[setting](target_size, EMBEDDING, UNITS))
    if setting in RECURRENT:
        encoder = RecurrentEncoder(source_size, EMBEDDING, UNITS, **RECURRENT[setting])
    elif setting == NO_NEIGHBOURS:
        encoder = ConvolutionalEncoder(source_size, EMBEDDING, UNITS, kernel_size=1, dilations=[1])
    else:
        encoder = ConvolutionalEncoder(source_size, EMBEDDING, UNITS, dilations=BLOCKS[setting])
    return SequenceToSequence(encoder, Decoder(target_size, EMBEDDING, UNITS))


def run(setting: str, seed: int) -> dict:
    """Train one model; return its size, its receptive field and its accuracy on dates."""
    steps = 4 * STEPS if setting.endswith(LONGER) else STEPS
    pairs, test = (
        [(pair.text, pair.iso) for pair in dates(split, size)]
        for split, size in (("train", 30_000), ("test", TESTED))
    )
    source, target = (CharacterTokenizer.from_texts(side) for side in zip(*pairs, strict=True))
    torch.manual_seed(seed)
    model = build(setting, len(source.vocabulary), len(target.vocabulary))
    texts, wanted = zip(*test, strict=True)
    history = fit(
        model,
        endless_batches(encode_pairs(pairs, source, target), BATCH_SIZE, seed=seed),
        steps=steps,
        loss=sequence_loss,
        learning_rate=3 * RATE if setting.endswith(FASTER) else RATE,
        schedule=warmup_linear(steps, warmup=50, decay=0.3),
        evaluate=lambda trained: exact_match(
            translate(trained, texts, source, target, max_length=12), wanted
        ),
        evaluate_at=(steps // 2, steps),
        description=f"{setting}, seed {seed}",
    )
    half, end = history.evaluations
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "field": getattr(model.encoder, "receptive_field", None),
        "half_way": half,
        "right": end,
    }


if __name__ == "__main__":
    attacks = FIRST_STATE + LONGER, FIRST_STATE + FASTER, DETACHED + FASTER
    decoders = FIRST_STATE, DETACHED, "every step, both ways"
    biased = [decoder + suffix for decoder in decoders for suffix in BIASES]
    settings = *ONCE, *DECODERS, *attacks, *biased, *RECURRENT, *BLOCKS, NO_NEIGHBOURS
    Study("ch04/encoder_summaries", run, settings).main()
