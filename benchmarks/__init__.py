"""Speed and accuracy of halfmax beside what a user would use instead; run with ``make bench``."""
