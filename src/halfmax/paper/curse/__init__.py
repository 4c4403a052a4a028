"""The winner's curse of Section 7: simulation and law."""
