"""Code and models of the page: the engine, and the models of the library."""

import hashlib
from functools import cache
from pathlib import Path

from gates2heads.browser.engine.export import REGISTRY, Exported, export_model, script_text
from gates2heads.browser.engine.rebuild import rebuild
from gates2heads.browser.modules import join_modules
from gates2heads.data.corpora.caption_words import packed_caption_words
from gates2heads.training.checkpoints import read_packed, shipped_weights

ENGINE = "engine"
# The models that the views of the book need
LIVE = (
    "translator",
    "translator_distilled",
    "translator_to_german",
    "bottleneck_none",
    "bottleneck_additive",
    "dates_none",
    "dates_dot",
    "dates_scaled_dot",
    "dates_general",
    "dates_additive",
    "gates_lstm",
    "gates_gru",
    "words_skip_gram",
    "words_cbow",
    "words_glove",
    "words_subword",
    "forced_teacher",
    "forced_free",
    "forced_mixed",
    "captions_ngram",
    "captions_gru",
    "captions_transformer",
    "pretrained_gpt",
    "pretrained_bert",
    "pretrained_ernie",
    "answers_ernie",
    "answers_random",
    "python_llama",
    "induction_one",
    "induction_two",
)
# For a model with German input, the one that translates into German for other readers
PARTNERS = {
    "translator": "translator_to_german",
    "translator_distilled": "translator_to_german",
}
_DIGITS = 8  # of the hash in the name of a model's file
_WORKER = Path(__file__).with_name("worker.js")


def live_model(name: str) -> Exported:
    """A released model in the format of the page; the bytes are reproducible.

    A translation model includes the counts of its training words and, as its partner, the model of
    the opposite direction.

    Args:
        name: of a model that is distributed with the library, such as "translator".

    Raises:
        ValueError: no model has this name, or it cannot be rebuilt from its card.
    """
    return _live_model(shipped_weights(name))


@cache
def _live_model(path: Path) -> Exported:
    model, source, target, decoding, card = rebuild(path)
    packed, _ = read_packed(path)
    partner = PARTNERS.get(path.stem)
    exported = export_model(
        model,
        name=path.stem,
        source=source,
        target=target,
        decoding=decoding,
        card=card,
        tensors=packed,
        words=packed_caption_words() if partner else None,
    )
    return exported._replace(partner=live_model(partner)) if partner else exported


def key(model: Exported) -> str:
    """Name a model and its bytes: "translator-0123abcd"; its file beside the pages has this name.

    Args:
        model: from `live_model` or `export_model`.
    """
    return f"{model.name}-{model.sha256[:_DIGITS]}"


def bytes_to_load(*models: Exported) -> int:
    """The number of bytes that a page loads to run these models: their files and the engine.

    Args:
        models: from `live_model` or `export_model`.
    """
    return len(_engine_script()) + sum(len(model.script().encode()) for model in models)


@cache
def engine_source() -> str:
    """The script of the Worker: the engine and all tasks, in a separate scope."""
    return f'(() => {{\n"use strict";\n{join_modules(_WORKER)}\n}})();\n'


def _engine_script() -> str:
    source = script_text({"source": engine_source()})
    return f'(globalThis.{REGISTRY} ??= {{}})["{ENGINE}"] = {source};\n'


def live_files() -> dict[str, str]:
    """The files beside the pages, by name; each name contains a hash of the content."""
    # The full hash: the page compares it before running
    digits = hashlib.sha256(engine_source().encode()).hexdigest()
    models = (live_model(name) for name in LIVE)
    return {
        f"{ENGINE}-{digits}.js": _engine_script(),
        **{f"{key(model)}.js": model.script() for model in models},
    }
