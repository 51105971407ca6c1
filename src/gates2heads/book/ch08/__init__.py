"""Chapter 8, decoding: its exercises, experiments and stored results."""
