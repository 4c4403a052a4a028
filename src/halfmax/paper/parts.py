"""The parts of the paper that can be reproduced, and how many runs the simulation takes."""

PARTS = ("figures", "claims", "curse")
RUNS = 10_000  # of the simulation, for each base rate, as in the paper
