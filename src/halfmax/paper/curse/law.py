"""The limit law of how much is predicted when F1 is maximised on scores without information.

In score order the labels are coins of chance b, so after k of n items there are about
``b k + sqrt(b (1-b)) W(k)`` positives, W a Brownian motion. Put into F1 = 2 tp / (k + b n), with
s = n / k, the logarithm of F1 is, up to constants and smaller terms,

    sqrt((1-b) / (b n)) * (V(s) - m s),    m^2 = n b^3 / ((1-b) (1+b)^2),

where ``V(s) = s W(1/s)`` is a Brownian motion again. F1 is highest where V with the drift -m is,
over s >= 1, and when that happens is known: the highest point comes later than s - 1 = t with
probability ``2 ((1 + u^2) Phi(-u) - u phi(u))``, ``u = m sqrt(t)``. So what decides is n b^3, not
the n b^2 of the paper. Many positives (b n) are needed for coins to look like a Brownian motion.
"""

import numpy as np
from scipy import optimize, stats

from halfmax._core.gate.options import check_share_inside


def bound_of_the_text(n: float) -> float:
    """The base rate of n = (1 - b) / b^2, above which the paper expects small thresholds."""
    return float((np.sqrt(1 + 4 * n) - 1) / (2 * n))


def printed_bound(n: float) -> float:
    """The base rate that the paper prints for this bound, which is a different one."""
    return float((np.sqrt(1 + 8 / n) - 1) / 2)


def chance_below(fraction: float, n: float, base_rate: float) -> float:
    """The limit of the probability that less than this fraction is predicted.

    >>> round(chance_below(0.5, n=10**6, base_rate=0.01), 3)
    0.152
    """
    fraction = check_share_inside("fraction", fraction)
    b = check_share_inside("base_rate", base_rate)
    drift = np.sqrt(n * b**3 / ((1 - b) * (1 + b) ** 2))
    return _later(drift * np.sqrt(1 / fraction - 1))


def turning_base_rate(n: float) -> float:
    """The base rate at which half of all runs predict less than half: about ``0.55 / n**(1/3)``.

    >>> round(turning_base_rate(10**6), 5)
    0.00549
    """

    def above(log_base_rate: float) -> float:
        return chance_below(0.5, n, np.exp(log_base_rate)) - 0.5

    return float(np.exp(optimize.brentq(above, -np.log(n) - 1, -1e-9)))


def _later(u: float) -> float:
    return float(2 * ((1 + u * u) * stats.norm.sf(u) - u * stats.norm.pdf(u)))
