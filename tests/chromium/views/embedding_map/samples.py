"""An embedding map with the shipped vectors, as a page without a kernel carries it.

    python -m tests.chromium.views.embedding_map.samples STATE.json

Writes the state, and beside it a folder `live` with the engine and the models.
"""

import sys
from pathlib import Path

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.metrics.words.questions import ask_words
from gates2heads.views import EmbeddingMap
from tests.chromium.samples.live_state import write

EXAMPLES = ["dog", "man woman", "man woman boy"]
MODELS = {
    "skip-gram": "words_skip_gram",
    "CBOW": "words_cbow",
    "GloVe": "words_glove",
    "subword": "words_subword",
}


def embedding_map() -> EmbeddingMap:
    """The view that the samples show."""
    vectors = shipped("words_skip_gram").model.compared()
    return EmbeddingMap(
        {name: live_model(file) for name, file in MODELS.items()},
        EXAMPLES,
        ask_words(vectors, EXAMPLES[0].split(), count=8),
        labels=["dog", "<b>man</b> woman", "boy?"],
        title="Words <and> neighbours",
        hint="Ask & see.",
        about="11,308 words & <none> more",
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]), embedding_map())
