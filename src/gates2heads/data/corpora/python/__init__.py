"""Python text: modules of the standard library and of packages, and docstrings."""
