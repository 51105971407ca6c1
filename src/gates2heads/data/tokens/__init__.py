"""Tokens: vocabularies and tokenizers."""
