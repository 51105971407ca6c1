"""Code shared by the views."""
