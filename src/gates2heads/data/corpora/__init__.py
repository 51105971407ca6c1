"""Corpora: real text, made by code, read from installed packages, or fetched once."""
