"""Layer 3: search algorithms, which use a model only through its step function."""
