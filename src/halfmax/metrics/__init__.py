"""What is maximised: metrics of the counts, the half-max theorem, the goal of a tuning."""
