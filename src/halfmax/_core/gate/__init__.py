"""The gate: every array, frame and option of a caller is checked here, once."""
