"""How good is a model? Perplexity, BLEU, chrF, ROUGE, exact match, and whether a gap is chance."""
