"""Does rotary encoding still help after long training, and with a learning rate for each block?

    python -m studies.ch12.longer "gpt2 500 3e-3" "rotary 500 9e-3" --seeds 0 1 2
    python -m studies.ch12.longer --table

Section 12.2 shows the results. A setting is a block, a number of batches and a learning rate. Small
copies of the models of `studies.ch12.exchanges` (two layers of width 64, a context of 128 tokens)
are trained on the same source, with 8 passages in a batch. Rates are compared with seed 0 by
`validation`, and the best one of each block is repeated; not every setting has been run. After
2,000 batches, each change of the block is tested in two contexts: added to GPT-2's block ("rms",
"rotary", "swiglu", "no-bias") and taken back from Llama's ("llama-norm", "llama-learned",
"llama-gelu", "llama-bias").
`validation` and `test` are cross-entropies in bits per character.
"""

from gates2heads.book.ch12.exchanges import SMALL, parameters, train_variant
from gates2heads.book.ch12.python_text import bits_per_character, python_text
from gates2heads.book.studies import Study
from gates2heads.data.corpora.python.source import PACKAGES, source_fingerprint

BATCH = 8
BLOCKS = ("gpt2", "rotary", "llama", "rms", "swiglu", "no-bias")
BLOCKS += ("llama-norm", "llama-learned", "llama-gelu", "llama-bias")
BUDGETS = (500, 2_000, 8_000)
RATES = ("1e-3", "3e-3", "9e-3", "27e-3")
SETTINGS = {
    f"{block} {steps} {rate}": (block, steps, float(rate))
    for block in BLOCKS
    for steps in BUDGETS
    for rate in RATES
}


def run(setting: str, seed: int) -> dict:
    """Train and test one model."""
    block, steps, rate = SETTINGS[setting]
    model, history = train_variant(block, seed, steps=steps, batch=BATCH, rate=rate, sizes=SMALL)
    length = SMALL["max_length"]
    return {
        "parameters": parameters(model),
        "steps": steps,
        "rate": rate,
        "tokens": steps * BATCH * length,
        "validation": bits_per_character(model, python_text("validation"), length=length),
        "test": bits_per_character(model, python_text("test"), length=length),
        "training_seconds": history.seconds,
        "corpus": source_fingerprint(PACKAGES),
    }


if __name__ == "__main__":
    Study("ch12/longer", run, SETTINGS).main()
