"""Diagrams of models and of words, drawn as SVG."""
