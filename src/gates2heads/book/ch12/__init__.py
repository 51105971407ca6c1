"""Chapter 12, one stack: its exercises, experiments and stored results."""
