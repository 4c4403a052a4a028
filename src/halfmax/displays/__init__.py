"""Pictures of thresholds in scikit-learn's manner: made by ``from_...``, drawn by ``plot``.

A display holds the arrays that it draws. matplotlib is imported when it is drawn, not before.
"""
