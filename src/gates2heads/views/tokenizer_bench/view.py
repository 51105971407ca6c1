"""Byte-pair encoding at work: any text in tokens, with as many merges as the reader allows."""

from typing import Any

from traitlets import Dict, Int, Unicode, validate

from gates2heads.accepts import accepts, instance, natural, string
from gates2heads.browser.engine.describe import describe_tokenizer
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.views.kit.view import PositionError, View, module, style

CHARACTERS = 400  # the longest text


@accepts(
    tokenizer=instance(BPETokenizer),
    written=string,
    merges=natural(least=0),
    word=natural(least=0),
    title=string,
    hint=string,
)
class TokenizerBench(View):
    """Type any text and see its tokens; choose how many merges of the tokenizer are used.

    Below the tokens are the counts of characters, bytes and tokens, the merge that was learnt last,
    and the merges by which one word of the text was put together. The page carries the merges with
    it, so the view needs no model, no kernel and no network.

    Args:
        tokenizer: whose merges are used.
        written: the initial text, up to 400 characters.
        merges: the initial number of merges; all if not given.
        word: the word whose merges are listed at first, counted from 0.
        title: shown above the view.
        hint: a suggestion, in one line.
        traits: as for any widget, such as `show_me`.

    Attributes:
        text: what is split into tokens.
        merges: the number of merges, from 0 (single bytes) to all.
        word: the position of the word whose merges are listed.

    Raises:
        ValueError: the text is too long, or there are not so many merges.
    """

    _esm = module(__file__)
    _css = style(__file__)

    tokenizer = Dict().tag(sync=True)
    text = Unicode().tag(sync=True)
    merges = Int(0).tag(sync=True)
    word = Int(0).tag(sync=True)
    longest = Int(CHARACTERS).tag(sync=True)

    def __init__(
        self,
        tokenizer: BPETokenizer,
        written: str,
        *,
        merges: int | None = None,
        word: int = 0,
        title: str = "",
        hint: str = "",
        **traits: Any,
    ):
        super().__init__(tokenizer=describe_tokenizer(tokenizer), title=title, hint=hint, **traits)
        self.text, self.word = written, word
        self.merges = len(tokenizer.merges) if merges is None else merges

    def _limits(self) -> dict[str, tuple[int, int]]:
        return {"merges": (0, len(self.tokenizer["merges"]) // 2), "word": (0, CHARACTERS)}

    @validate("merges", "word")
    def _inside(self, proposal: dict[str, Any]) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        low, high = self._limits()[name]
        if not low <= value <= high:
            raise PositionError(f"{name} must be from {low} to {high}, got {value}")
        return value

    @validate("text")
    def _short(self, proposal: dict[str, Any]) -> str:
        if len(proposal["value"]) > CHARACTERS:
            raise PositionError(
                f"text must have at most {CHARACTERS} characters, got {len(proposal['value'])}"
            )
        return proposal["value"]

    def __repr__(self):
        return f"TokenizerBench({self.merges:,} merges used)"
