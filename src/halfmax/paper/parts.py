"""The parts of the paper that can be reproduced, and how many runs the simulation takes."""

PARTS = ("figures", "claims", "curse")
RUNS = 10_000  # simulated runs for each base rate, as in the paper
