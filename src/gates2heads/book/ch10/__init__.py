"""Chapter 10, leaderboard: its exercises, experiments and stored results."""
