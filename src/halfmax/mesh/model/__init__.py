"""The model of the tagger: words, factors, ridge regression, and how they are fitted and saved."""
