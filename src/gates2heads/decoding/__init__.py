"""Floor 3: searches for an output, which know no model but only a step function."""
