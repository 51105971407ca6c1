"""Chapter 1, recurrent gates: its exercises, experiments and stored results."""
