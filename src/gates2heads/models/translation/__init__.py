"""Encoder–decoder models, recurrent and convolutional."""
