"""The winner's curse of Section 7: its simulation and its limit law."""
