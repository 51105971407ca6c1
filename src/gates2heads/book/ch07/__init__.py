"""Chapter 7, transformer: its exercises, experiments and stored results."""
