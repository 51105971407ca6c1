"""Floor 4: the library's twin in the page, and what carries models there."""
