"""The paper recomputed: its figures, its numerical claims, its simulation and its case study."""
