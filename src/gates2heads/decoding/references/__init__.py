"""Searches that define or prove the best: exact, exhaustive, and beam search by definition."""
