"""Chapter 9, evaluation: its exercises, experiments and stored results."""
