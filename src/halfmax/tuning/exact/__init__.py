"""The exact optimum on the data at hand, for each way to average a metric."""
