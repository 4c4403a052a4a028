"""One page about a tuning run: what was found, to look at and to play with, in a single file."""
