"""The paper's claims, recomputed section by section."""
