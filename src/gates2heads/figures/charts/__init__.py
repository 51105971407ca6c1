"""Charts: curves, heat maps and scatter plots, and bounds and intervals in sentences."""
