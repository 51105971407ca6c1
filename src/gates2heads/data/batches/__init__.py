"""Batches: examples of unequal length in padded tensors with masks."""
