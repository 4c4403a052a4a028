"""What the tagger learns: words, factors, ridge regression."""
