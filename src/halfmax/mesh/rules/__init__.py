"""Rules, which are thresholds of labels and documents, and the F1 that they reach."""
