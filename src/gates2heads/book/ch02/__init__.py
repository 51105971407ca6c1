"""Chapter 2, word vectors: its exercises, experiments and stored results."""
