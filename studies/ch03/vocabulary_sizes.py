"""What effect has the vocabulary size on perplexity and on bits per byte? For section 3.8.

    python -m studies.ch03.vocabulary_sizes
    python -m studies.ch03.vocabulary_sizes --table

A setting is a vocabulary size of byte-pair encoding, from 259 tokens (the 256 bytes and three
special tokens, no merges) to 8,000, learnt from the 29,000 English training captions of Multi30k.
For each, the n-gram model with Kneser–Ney smoothing whose order (3, 5, 7, 10 or 14) gives the
fewest bits per token on the validation captions is scored on the test captions; short tokens need
longer contexts.

`bits_per_byte` divides the bits of all tokens, `<eos>` included, by the number of bytes in UTF-8.
`tokens_per_word` counts words as strings between white space. Counting is deterministic, so there
is one seed.
"""

import torch

from gates2heads.book.studies import Study
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.models.language.ngram import KneserNey
from studies.ch03.language_models import surprise, texts_of

SIZES = (259, 500, 1_000, 2_000, 4_000, 8_000)
SETTINGS = [f"{size} tokens" for size in SIZES]
ORDERS = (3, 5, 7, 10, 14)


def run(setting: str, seed: int) -> dict:
    """Train a tokenizer of one size, count with it, and score the test captions."""
    texts = {split: texts_of("captions", split) for split in ("train", "validation", "test")}
    tokenizer = BPETokenizer.train(texts["train"], int(setting.split(maxsplit=1)[0]))
    tokens = {split: tokenizer.encode_all(some) for split, some in texts.items()}
    tried, best = {}, None
    for order in ORDERS:
        model = KneserNey(tokens["train"], len(tokenizer), order)
        tried[order] = surprise(model, tokens["validation"])
        if tried[order] == min(tried.values()):
            best = order, model
    order, model = best
    bits = surprise(model, tokens["test"])
    count = sum(map(len, tokens["test"]))
    total = sum(len(text.encode()) for text in texts["test"])
    words = sum(len(text.split()) for text in texts["test"])
    return {
        "vocabulary": len(tokenizer),
        "order": order,
        "validation_bits_per_token": {str(n): one for n, one in tried.items()},
        "test_tokens": count,
        "tokens_per_word": (count - len(texts["test"])) / words,
        "bits_per_token": bits,
        "perplexity": 2**bits,
        "bits_per_byte": bits * count / total,
        "test_bytes": total,
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    Study("ch03/vocabulary_sizes", run, SETTINGS).main()
