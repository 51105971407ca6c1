"""Layer 0: data. Corpora, vocabularies, tokenizers, batches."""
