"""The engine: the library's layers, models and searches, implemented in JavaScript."""
