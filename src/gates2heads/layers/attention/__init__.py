"""Attention: scores, one head, many heads, hard and local choices."""
