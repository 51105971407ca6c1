"""The splits that every corpus has."""

SPLITS = ("train", "validation", "test")
HELD_OUT = 20  # one day or module in twenty for validation, another one in twenty for the test
