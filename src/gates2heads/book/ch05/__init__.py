"""Chapter 5, attention: its exercises, experiments and stored results."""
