"""Models that run in the page: the files that views load, and the code that runs them."""
