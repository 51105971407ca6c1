"""Evaluation metrics: perplexity, BLEU, chrF, ROUGE, exact match, and significance tests."""
