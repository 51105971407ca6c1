"""Floor 0: what callers hand over, looked at once; a wrong argument gets one sentence."""
