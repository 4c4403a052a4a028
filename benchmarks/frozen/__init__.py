"""Hashes of public answers on fixed inputs, to show that a change of the code changes none.

``python -m benchmarks.frozen --write FILE.json`` stores them, ``--check FILE.json`` compares.
Names that start with ``values:`` are answers, which must stay equal bit for bit; those that start
with ``words:`` are warnings, errors, printed text and pages, which may be reworded on purpose.
"""
