"""Tuning with labels: the thresholds that maximise a metric, their file and their guards."""
