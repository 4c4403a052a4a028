"""Without labels: the decisions that maximise the expected metric of a batch."""
