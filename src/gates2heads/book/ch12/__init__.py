"""Chapter 12, decoder-only models: its exercises, experiments and stored results."""
