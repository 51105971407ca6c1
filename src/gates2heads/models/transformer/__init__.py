"""The Transformer and its kin."""
