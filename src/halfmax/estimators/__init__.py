"""Estimators and scorers in scikit-learn's manner."""
