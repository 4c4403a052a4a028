"""The paper recomputed: its figures, its numerical claims and its simulation."""
