"""Do scores that depend on the distance of two tokens explain the gain of rotary encoding?

    python -m studies.ch12.why_rotary "alibi 3e-3" "alibi 9e-3" --seeds 0 1 2
    python -m studies.ch12.why_rotary --table

Section 12.2 shows the results. A setting is a block and a learning rate. The blocks are the small
copies of `studies.ch12.longer` (two layers of width 64, a context of 128 tokens), trained on 2,000
batches of 8 passages. "gpt2" has learned positions, "rotary" has rotary encoding, and
"no-positions" has no positional encoding. "alibi" lowers each score by the distance times a
constant of the head (Press et al. 2022). "relative" adds to each score a learned number for the
head and the distance, which is zero before training. The two lower rates were run with three seeds.

`validation` and `test` are cross-entropies in bits per character. `parts` divides `test` among
three kinds of tokens and gives the share of each kind: "pair", tokens that followed the same token
earlier in the passage; "token", other tokens that occurred earlier; and "new".
"""

from gates2heads.book.ch12.exchanges import SMALL, parameters, train_variant
from gates2heads.book.ch12.python_text import bits_by_context, bits_per_character, python_text
from gates2heads.book.studies import Study
from gates2heads.data.corpora.python.source import PACKAGES, source_fingerprint
from studies.ch12.longer import BATCH

BLOCKS = ("gpt2", "no-positions", "alibi", "relative", "rotary")
RATES = ("1e-3", "3e-3", "9e-3", "27e-3")
STEPS = 2_000
SETTINGS = {f"{block} {rate}": (block, float(rate)) for block in BLOCKS for rate in RATES}


def run(setting: str, seed: int) -> dict:
    """Train and test one model."""
    block, rate = SETTINGS[setting]
    model, history = train_variant(block, seed, steps=STEPS, batch=BATCH, rate=rate, sizes=SMALL)
    length = SMALL["max_length"]
    parts = bits_by_context(model, python_text("test"), length=length)
    return {
        "parameters": parameters(model),
        "rate": rate,
        "validation": bits_per_character(model, python_text("validation"), length=length),
        "test": sum(part.bits for part in parts.values()),
        "parts": {kind: part._asdict() for kind, part in parts.items()},
        "training_seconds": history.seconds,
        "corpus": source_fingerprint(PACKAGES),
    }


if __name__ == "__main__":
    Study("ch12/why_rotary", run, SETTINGS).main()
