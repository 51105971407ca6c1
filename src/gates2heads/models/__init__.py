"""Floor 2: models, put together from layers."""
