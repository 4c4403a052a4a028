"""Thresholds that hold on new data: labels lend each other strength."""
