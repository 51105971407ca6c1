"""From GPT-2's block to Llama's, one exchange at a time. Section 12.2 shows the results.

    python -m studies.ch12.exchanges --seeds 0 1 2 3 4
    python -m studies.ch12.exchanges --table

Every model has as many parameters as "gpt2" (to 0.2 %) and is trained on the source of Python and
five packages, for 1,000 batches of 32 passages with 256 tokens. `test` is the cross-entropy of the
test modules in bits per character. The settings that end in "x3" and "/3" have three times and
a third of the learning rate; those that end in "4000" are trained for four times as many batches.
"""

from gates2heads.book.ch12.exchanges import MODELS, RATE, STEPS, parameters, train_variant
from gates2heads.book.ch12.python_text import bits_per_character, python_text
from gates2heads.book.studies import Study
from gates2heads.data.corpora.python.source import PACKAGES, source_fingerprint

LONG = 4 * STEPS
ATTACKED = ("gpt2", "rms", "rotary", "swiglu", "no-bias", "llama", "llama-learned")
SETTINGS = {
    **{variant: (variant, STEPS, RATE) for variant in MODELS},
    **{f"{variant} x3": (variant, STEPS, 3 * RATE) for variant in ATTACKED},
    **{f"{variant} /3": (variant, STEPS, RATE / 3) for variant in ATTACKED},
    **{f"{variant} {LONG}": (variant, LONG, RATE) for variant in ATTACKED},
}


def run(setting: str, seed: int) -> dict:
    """Train and test one model."""
    variant, steps, rate = SETTINGS[setting]
    model, history = train_variant(variant, seed, steps=steps, rate=rate)
    chunks = [history.loss[at : at + steps // 20] for at in range(0, steps, steps // 20)]
    return {
        "parameters": parameters(model),
        "steps": steps,
        "rate": rate,
        "training": [sum(some) / len(some) for some in chunks],
        "validation": bits_per_character(model, python_text("validation")),
        "test": bits_per_character(model, python_text("test")),
        "training_seconds": history.seconds,
        "corpus": source_fingerprint(PACKAGES),
    }


if __name__ == "__main__":
    Study("ch12/exchanges", run, SETTINGS).main()
