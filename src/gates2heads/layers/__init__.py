"""Floor 1: layers, each small enough to be read aloud."""
