"""Chapter 6, self attention: its exercises, experiments and stored results."""
