"""Layer 4: figures, the library's own source, numbers in prose."""
