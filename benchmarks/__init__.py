"""Speed and accuracy of halfmax compared with its alternatives; run with ``make bench``."""
