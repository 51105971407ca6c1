"""The Transformer and its variants."""
