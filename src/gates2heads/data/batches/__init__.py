"""Batches: examples of unequal length in tensors, with what is real marked."""
