"""Without labels: the decisions with the highest expected metric for known probabilities."""
