"""The exact optimum of each average."""
