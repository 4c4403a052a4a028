"""What every threshold counts: the grid of candidate thresholds and the counts at each step."""
