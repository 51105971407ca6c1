"""After how long a test stops waiting: generous, so that a slow machine fails nothing."""

PROCESS = 1800  # seconds for a process, or for a notebook's cell
PAGE = 180_000  # milliseconds for what a page should show
START = 600_000  # milliseconds for a program that starts in the browser
