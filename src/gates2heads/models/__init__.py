"""Layer 2: models, composed of layers."""
