"""Layer 3: training: the loop, losses, schedules, checkpoints."""
