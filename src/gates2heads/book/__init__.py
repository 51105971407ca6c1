"""Layer 6: what belongs to one chapter, under its number, and how a page reads a study."""
