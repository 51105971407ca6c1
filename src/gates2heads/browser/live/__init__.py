"""Models that run in the page: which file a view loads, and what runs it there."""
