"""The paper recomputed: its figures, its numerical claims and its simulation."""

PARTS = ("figures", "claims", "curse")
RUNS = 10_000  # of the simulation, for each base rate, as in the paper
