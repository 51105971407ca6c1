"""Floor 4: runs a model and keeps what a figure or a view shows of it."""
