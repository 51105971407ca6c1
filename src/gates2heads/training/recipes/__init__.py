"""Recipes: task, data, model and training settings, by name or from a file."""
