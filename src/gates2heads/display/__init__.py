"""What the reader sees: figures, the library's own source, numbers in prose, and widgets."""
