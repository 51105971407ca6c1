"""Chapter 13, scaling and in-context learning: its exercises, experiments and stored results."""
