"""``1/x`` as a short sum of exponentials: ``1/x = sum(weight * exp(-x * time))`` for lo <= x <= hi.

An expected ratio becomes a sum of expected exponentials, and these factorise over independent
items. No weight is negative, so the relative error of the sum, below 1e-15 for every x of the
range, is that of any mixture of reciprocals too. ``docs/expected-f.md`` derives the rule.
"""

from typing import Any

import numpy as np

from halfmax._core.types import Array

# The trapezoidal rule after t = exp(y + shift - exp(-y)), in units of 1/hi, from y = START on.
# These three numbers give the fewest nodes that keep the error below rounding.
_STEP, _SHIFT, _START = 0.22, 1.5, -3.65
DEAD = 40.0  # exp(-40) is nothing beside 1
WIDTH = 4  # nodes are padded with zero weights to fill whole vector registers
LEGENDRE_STEP, MOST_LEGENDRE = 4, 48  # there are rules of 4, 8, ... 48 nodes
MOST_NODES = 256  # enough for hi / lo up to 10^20


def _nodes() -> tuple[Array, Array]:
    y = _START + _STEP * np.arange(MOST_NODES - WIDTH)
    times = np.exp(y + _SHIFT - np.exp(-y))
    return times, _STEP * times * (1.0 + np.exp(-y))


UNIT = np.stack(_nodes())  # times and weights for hi = 1


def _legendre(size: int) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights on [0, 1], an even number of them, to 15 digits.

    Libraries give 13 digits. Newton's method gives the rest for the lower half, where the
    recurrence of differences of Legendre polynomials keeps every digit of v; the upper half is its
    mirror image.
    """
    v = (np.polynomial.legendre.leggauss(size)[0][: size // 2] + 1.0) / 2.0
    for _ in range(3):
        value, change, before = np.ones_like(v), np.zeros_like(v), np.ones_like(v)
        for k in range(size):
            change = (k * change - 2.0 * (2 * k + 1) * v * value) / (k + 1)
            value, before = value + change, value
        slope = size * (before - (1.0 - 2.0 * v) * value) / (2.0 * v * (1.0 - v))
        weights = 4.0 * v * (1.0 - v) / (size * before) ** 2
        v = v + value / slope
    return np.append(v, 1.0 - v[::-1]), np.append(weights, weights[::-1])


_RULES = [_legendre(size) for size in range(LEGENDRE_STEP, MOST_LEGENDRE + 1, LEGENDRE_STEP)]


def count_nodes(lo: Any, hi: Any) -> Any:
    """Count the nodes that matter for lo <= x <= hi, which may be arrays."""
    return np.searchsorted(UNIT[0], DEAD * (hi / lo), side="right")


def exponential_sum(lo: float, hi: float) -> tuple[Array, Array]:
    """Return times and weights for every x from lo to hi, in order of rising time.

    >>> times, weights = exponential_sum(1, 1000)
    >>> bool(abs(weights @ np.exp(-7 * times) - 1 / 7) < 1e-15), len(times)
    (True, 60)
    """
    used = int(count_nodes(lo, hi))
    size = WIDTH * -(-used // WIDTH)
    times, weights = np.full(size, UNIT[0, used - 1] / hi), np.zeros(size)
    times[:used], weights[:used] = UNIT[:, :used] / hi
    return times, weights


def legendre_nodes(size: int) -> tuple[Array, Array]:
    """Places v and weights, ``1/x = sum(weight * v**(x - 1))`` for whole x up to twice the size.

    This few nodes integrate powers of v up to that exactly from 0 to 1: for short batches they are
    fewer than the exponentials need.
    """
    return _RULES[size // LEGENDRE_STEP - 1]
