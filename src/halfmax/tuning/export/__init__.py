"""Thresholds for other systems: SQL expressions and ONNX graphs that predict the same rows."""
