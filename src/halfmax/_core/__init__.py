"""The gate and the plumbing: inputs, files, threads, results. Knows no metric."""
