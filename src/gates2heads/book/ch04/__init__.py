"""Chapter 4, sequence to sequence: its exercises, experiments and stored results."""
