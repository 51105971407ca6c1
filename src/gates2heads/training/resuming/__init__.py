"""Training runs that continue where they were interrupted, with identical results."""
