"""Layer 1: layers, each of them small."""
