"""The host of the views on pages of the built book, without Jupyter and Python."""
