"""Thresholds of labels and documents, and what they reach."""
