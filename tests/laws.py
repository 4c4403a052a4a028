"""Whether samples follow a law, by chi-squared tests."""

import numpy as np
from scipy import stats

LIKELY = 1e-3  # the law is refused where chance alone would be odder than this


def chance_of_law(fractions, law):
    """How probable such frequencies, or odder ones, are if the counts 0 to n follow the law."""
    n = len(law) - 1
    seen, expected = np.bincount(np.rint(fractions * n).astype(int)), law * len(fractions)
    seen = np.pad(seen, (0, n + 1 - len(seen)))
    rare = expected < 5
    if rare.any():
        seen = np.append(seen[~rare], seen[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    return stats.chisquare(seen, expected, sum_check=False).pvalue if len(seen) > 1 else 1.0


def chance_of_equal_laws(a, b, cells=20):
    """The same of two samples, counted between quantiles of both together."""
    edges = np.unique(np.quantile(np.concatenate([a, b]), np.linspace(0, 1, cells + 1)[1:-1]))
    table = [np.bincount(np.searchsorted(edges, x), minlength=len(edges) + 1) for x in (a, b)]
    table = np.array(table)[:, np.sum(table, axis=0) > 0]
    return stats.chi2_contingency(table).pvalue if table.shape[1] > 1 else 1.0
