"""Layer 4: the counterpart of the library in the page, and the export of models."""
