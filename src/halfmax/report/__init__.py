"""The HTML report of tuned thresholds: one interactive page in a single file."""
