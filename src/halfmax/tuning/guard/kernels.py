"""The loops behind calibrated probabilities: isotonic regression and Newton's steps."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from halfmax._core import uncompiled as cython

import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import exp, fabs
else:
    from numpy import exp, fabs


def falling_rates(
    rows: cython.const[cython.double][:, :],
    positives: cython.const[cython.double][:, :],
    rates: cython.double[:, :],
) -> None:
    """Fit falling rates to the bands of every label (isotonic regression)."""
    n_bands = rows.shape[1]
    size: cython.double[::1] = np.empty(n_bands)
    hits: cython.double[::1] = np.empty(n_bands)
    length: cython.longlong[::1] = np.empty(n_bands, np.int64)
    blocks: cython.Py_ssize_t
    at: cython.Py_ssize_t
    with cython.nogil:
        for j in range(rows.shape[0]):
            blocks = 0
            for b in range(n_bands):
                size[blocks], hits[blocks], length[blocks] = rows[j, b], positives[j, b], 1
                blocks += 1
                while blocks > 1 and hits[blocks - 2] * size[blocks - 1] <= (
                    hits[blocks - 1] * size[blocks - 2]
                ):
                    blocks -= 1
                    size[blocks - 1] += size[blocks]
                    hits[blocks - 1] += hits[blocks]
                    length[blocks - 1] += length[blocks]
            at = 0
            for block in range(blocks):
                for _ in range(length[block]):
                    rates[j, at] = hits[block] / size[block]
                    at += 1


def pooled_newton(
    logits: cython.const[cython.double][:],
    level: cython.const[cython.double][:],
    rank: cython.const[cython.double][:, :],
    rows: cython.const[cython.double][:, :],
    positives: cython.const[cython.double][:, :],
    kind: cython.const[cython.double][:],
    gradient: cython.double[:],
    curvature: cython.double[:, :],
) -> None:
    """Add gradient and curvature of the pooled logistic regression over all cells."""
    x = cython.declare(cython.double[4])
    with cython.nogil:
        x[0] = 1.0
        for j in range(rows.shape[0]):
            x[2] = level[j]
            for b in range(rows.shape[1]):
                if rows[j, b] > 0.0:
                    x[1] = logits[b]
                    x[3] = rank[j, b]
                    height = x[0] * kind[0] + x[1] * kind[1] + x[2] * kind[2] + x[3] * kind[3]
                    p = 1.0 / (1.0 + exp(-height))
                    for i in range(4):
                        gradient[i] += x[i] * (positives[j, b] - rows[j, b] * p)
                        for k in range(4):
                            curvature[i, k] += x[i] * x[k] * rows[j, b] * p * (1.0 - p)


def fit_own(
    logits: cython.const[cython.double][:, :],
    rows: cython.const[cython.double][:, :],
    positives: cython.const[cython.double][:, :],
    centre: cython.double,
    mean: cython.const[cython.double][:],
    precision: cython.const[cython.double][:, :],
    most_steps: cython.Py_ssize_t,
    done: cython.double,
    own: cython.double[:, :],
    spread: cython.double[:, :, :],
) -> None:
    """Find each label's most probable intercept and slope, and their covariance (Newton).

    At least one step is taken, at most `most_steps`, and none after one that moves every logit by
    less than `done`.
    """
    intercept: cython.double
    slope: cython.double
    h00: cython.double = 1.0
    h01: cython.double = 0.0
    h11: cython.double = 1.0
    determinant: cython.double = 1.0
    with cython.nogil:
        for j in range(rows.shape[0]):
            intercept, slope = own[j, 0], own[j, 1]
            widest: cython.double = 0.0
            for b in range(rows.shape[1]):
                if rows[j, b] > 0.0:
                    widest = max(widest, fabs(logits[j, b] - centre))
            for _ in range(most_steps):
                off0, off1 = intercept - mean[0], slope - mean[1]
                g0: cython.double = -(precision[0, 0] * off0 + precision[0, 1] * off1)
                g1: cython.double = -(precision[1, 0] * off0 + precision[1, 1] * off1)
                h00, h01, h11 = precision[0, 0], precision[0, 1], precision[1, 1]
                for b in range(rows.shape[1]):
                    if rows[j, b] > 0.0:
                        x = logits[j, b] - centre
                        p = 1.0 / (1.0 + exp(-(logits[j, b] + intercept + slope * x)))
                        residual = positives[j, b] - rows[j, b] * p
                        weight = rows[j, b] * p * (1.0 - p)
                        g0 += residual
                        g1 += residual * x
                        h00 += weight
                        h01 += weight * x
                        h11 += weight * x * x
                determinant = h00 * h11 - h01 * h01
                step0 = (h11 * g0 - h01 * g1) / determinant
                step1 = (h00 * g1 - h01 * g0) / determinant
                size = fabs(step0) + fabs(step1) * widest  # the largest change of any logit
                shorter = 1.0 / max(1.0, size)  # far from the maximum, Newton's steps overshoot
                intercept += shorter * step0
                slope += shorter * step1
                if size < done:
                    break
            own[j, 0], own[j, 1] = intercept, slope
            spread[j, 0, 0] = h11 / determinant
            spread[j, 0, 1] = spread[j, 1, 0] = -h01 / determinant
            spread[j, 1, 1] = h00 / determinant
