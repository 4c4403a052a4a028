"""Known score densities: the optimal decision regions of Theorem 1."""
