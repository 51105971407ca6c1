"""Layer 4: runs a model and records the data of a figure or a view."""
