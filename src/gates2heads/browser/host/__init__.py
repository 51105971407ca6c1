"""What shows the views on a page of the built book, where neither Jupyter nor Python runs."""
