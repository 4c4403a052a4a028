"""scikit-learn estimators and scorers: classifiers that tune and apply thresholds."""
