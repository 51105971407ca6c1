"""Tokens: vocabularies, and the tokenizers that cut a text into them."""
