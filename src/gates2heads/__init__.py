"""Gates to Heads: the library that the book on sequence models proves."""
