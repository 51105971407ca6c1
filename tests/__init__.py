"""The tests; a package of its own, since IPython brings one of this name."""
