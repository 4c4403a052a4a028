"""Plots in scikit-learn's style: displays are created by ``from_...`` and drawn by ``plot``.

A display holds the arrays that it draws. matplotlib is imported only when something is drawn.
"""
