"""Chapter 11, pretraining: its exercises, experiments and stored results."""
