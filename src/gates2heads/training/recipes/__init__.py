"""Recipes: what is trained on what, and how, by name or from a file."""
