"""Chapter 13, size and context: its exercises, experiments and stored results."""
