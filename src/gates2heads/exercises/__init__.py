"""Floor 4: the checks that the exercises of each chapter call."""
