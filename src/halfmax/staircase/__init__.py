"""What every threshold counts: the grid of positives, the counts at each step."""
