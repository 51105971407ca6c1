"""Chapter 3, sequence probability: its exercises, experiments and stored results."""
