"""The named recipes, each with only the settings that differ from the defaults.

`python -m gates2heads show NAME` prints one with all settings.
"""

from copy import deepcopy

from gates2heads.layers.attention.scores import SCORES


def _dates(score: str | None) -> dict:
    return {"task": "dates", "model": {"kind": "EncoderDecoder", "score": score}}


EPOCH = 258  # this many batches of 2,000 tokens are one epoch of the 29,000 captions
CAPTIONS = {
    "steps": 6 * EPOCH,
    "learning_rate": 2e-3,
    "warmup": 400,
    "schedule": "cosine",
    "label_smoothing": 0.1,
    "evaluate_every": 2 * EPOCH,
    "checkpoint_every": EPOCH // 2,
    "precision": "auto",
}


def _captions(
    kind: str, model: dict, data: dict | None = None, decoding: dict | None = None, **training
) -> dict:
    return {
        "task": "captions",
        "data": deepcopy(data or {}),
        "model": {"kind": kind, **model},
        "training": {**CAPTIONS, **training},
        "decoding": decoding or {"width": 5},
    }


def _transformer(model: dict, *others: dict, **training) -> dict:
    model = {"kind": "Transformer", "tie": "all", "dropout": 0.25, **model}
    return _captions(model.pop("kind"), model, *others, learning_rate=1.5e-3, **training)


RECIPES = {
    "dates-none": _dates(None),
    **{f"dates-{name.replace(' ', '-')}": _dates(name) for name in SCORES},
    "dates-transformer": {
        "task": "dates",
        "model": {
            "kind": "Transformer",
            "d_model": 128,
            "nhead": 4,
            "num_encoder_layers": 2,
            "num_decoder_layers": 2,
            "dim_feedforward": 256,
        },
        "training": {"steps": 1000, "learning_rate": 1e-3, "warmup": 100},
    },
    # The comparison: eleven translation models of the same captions
    "captions-rnn": _captions("recurrent", {"cell": "rnn", "hidden_size": 512}),
    "captions-lstm": _captions("recurrent", {"cell": "lstm", "hidden_size": 512}),
    "captions-lstm-context": _captions(
        "recurrent", {"cell": "lstm", "hidden_size": 512, "repeat_summary": True}
    ),
    "captions-gru": _captions(
        "recurrent", {"cell": "gru", "hidden_size": 512, "repeat_summary": True}
    ),
    "captions-bahdanau": _captions("recurrent", {"cell": "gru", "attention": "bahdanau"}),
    "captions-luong": _captions("recurrent", {"cell": "gru", "attention": "luong"}),
    "captions-convolutional": _captions("convolutional", {}),
    "captions-transformer": _transformer({}),
    "captions-rotary": _transformer({"rotary": True}),
    "captions-universal": _transformer({"kind": "UniversalTransformer", "rotary": True}),
    "captions-at-once": _transformer({"kind": "NonAutoregressiveTransformer", "slots": 80}),
    # The released models, and shorter recipes for readers who train their own
    "translator": _transformer(
        {"rotary": True},
        {"vocabulary": 8_000, "merge_dropout": 0.1},
        {"width": 5, "length_power": 1.2},
        steps=24 * 298,  # of 2,000 tokens; words in more pieces need more of them
        evaluate_every=3 * 298,
        checkpoint_every=298,
    ),
    "translator-to-german": _transformer(
        {"rotary": True},
        {"reads": "English", "vocabulary": 8_000, "merge_dropout": 0.1, "as_typed": 0.3},
        {"width": 5, "length_power": 1.2},
        steps=16 * 298,
        evaluate_every=4 * 298,
        checkpoint_every=298,
    ),
    "translator-quick": _transformer(
        {"rotary": True, "dropout": 0.2},
        {"vocabulary": 8_000},
        steps=8 * 243,  # words in fewer pieces need fewer
        evaluate_every=2 * 243,
        checkpoint_every=243,
    ),
}
