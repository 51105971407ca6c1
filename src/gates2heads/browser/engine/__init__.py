"""The engine: the library's layers, models and searches once more, in the language of the page."""
