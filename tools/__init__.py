"""Commands that build, execute and check the book."""
