"""Metrics of word vectors, and a score of texts that compares their vectors."""
