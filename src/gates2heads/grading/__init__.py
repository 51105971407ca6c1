"""Floor 5: how an exercise is judged: against its solution, and by the mistakes that it names."""
