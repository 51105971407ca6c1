"""Layer 5: grading of exercises: comparison with a solution, and diagnosis of mistakes."""
