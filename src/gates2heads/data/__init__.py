"""Floor 0: what goes in. Corpora, vocabularies, tokenizers, batches."""
