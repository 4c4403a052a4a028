"""Simulated data for the benchmarks, reproducible from a seed."""

import numpy as np
from scipy import sparse


def binary(n_rows, base_rate, dtype=np.float32, seed=0):
    """One classifier: calibrated-looking probabilities of normal scores that lie 1.5 apart."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n_rows, np.float32) < base_rate).view(np.int8)
    scores = rng.standard_normal(n_rows, np.float32)
    scores += np.float32(1.5) * truth - np.float32(1)
    np.exp(-scores, out=scores)
    return truth, (1 / (1 + scores)).astype(dtype)


def one_classifier(n_rows, seed=0):
    """Scores of many shapes: flat and sharp optima, ties, tails. Yields name, truth, scores."""
    rng = np.random.default_rng(seed)

    def truth_of(rate):
        return (rng.random(n_rows, np.float32) < rate).view(np.int8)

    for base_rate in (0.5, 0.1, 0.01, 0.001):
        truth = truth_of(base_rate)
        scores = rng.standard_normal(n_rows, np.float32) + np.float32(1.5) * truth
        yield f"normal, base rate {base_rate:g}", truth, scores
    for base_rate in (0.5, 0.01):
        yield f"probabilities of such, base rate {base_rate:g}", *binary(n_rows, base_rate)
    scores = rng.random(n_rows, np.float32)
    yield "uniform, calibrated", truth_of(scores), scores
    scores = rng.beta(0.3, 1.5, n_rows).astype(np.float32)
    yield "beta(0.3, 1.5), calibrated", truth_of(scores), scores
    truth, scores = binary(n_rows, 0.1)
    yield "two decimals, base rate 0.1", truth, np.round(scores, 2)
    yield "two scores, base rate 0.1", truth, (scores > 0.5).astype(np.float32)
    yield "no signal, base rate 0.5", truth_of(0.5), rng.standard_normal(n_rows, np.float32)
    truth = truth_of(0.1)
    yield "Cauchy, base rate 0.1", truth, (rng.standard_cauchy(n_rows) + truth).astype(np.float32)


def dense(n_rows, n_labels, seed=0):
    """Many labels, frequencies falling like 1/rank from one half, in random order."""
    rng = np.random.default_rng(seed)
    frequency = rng.permutation(0.5 / np.arange(1, n_labels + 1))
    truth = np.empty((n_rows, n_labels), np.int8)
    scores = np.empty((n_rows, n_labels), np.float32)
    for row in range(n_rows):
        truth[row] = rng.random(n_labels) < frequency
        scores[row] = rng.standard_normal(n_labels, np.float32) + np.float32(1.5) * truth[row]
    return truth, scores


def common(n_rows, n_labels, base_rate, dtype=np.float32, seed=0):
    """Many labels that all have the same share of positives, and scores that lie 1.5 apart."""
    rng = np.random.default_rng(seed)
    truth = (rng.random((n_rows, n_labels), np.float32) < base_rate).view(np.int8)
    scores = rng.standard_normal((n_rows, n_labels), np.float32)
    scores += np.float32(1.5) * truth
    return truth, scores.astype(dtype, copy=False)


def rare_labels(n_rows, n_labels, seed=0):
    """Base rates over three decades, signals from none to strong, each with its own calibration."""
    rng = np.random.default_rng(seed)
    frequency, signal = rng.normal(-5.0, 1.5, n_labels), np.abs(rng.normal(1.2, 0.8, n_labels))
    evidence = rng.standard_normal((n_rows, n_labels))
    truth = rng.random((n_rows, n_labels)) < 1 / (1 + np.exp(-frequency - signal * evidence))
    stated = 0.7 * frequency - 1.0 + rng.uniform(0.5, 2.0, n_labels) * evidence
    return truth.astype(np.int8), (1 / (1 + np.exp(-stated))).astype(np.float32)


def candidates(n_rows, n_labels, per_row, skew=1.0, seed=0):
    """Extreme multilabel: each row has ``per_row`` scored labels, one in ten of them true.

    With ``skew`` above 1 some labels are candidates far more often than others.
    """
    rng = np.random.default_rng(seed)
    place = rng.random((n_rows, per_row), np.float32) ** skew
    indices = np.minimum((place * n_labels).astype(np.int32), n_labels - 1)
    indices.sort(axis=1)
    once = np.ones(indices.shape, bool)
    once[:, 1:] = indices[:, 1:] != indices[:, :-1]
    indptr = np.append(0, np.cumsum(once.sum(axis=1)))
    indices = indices[once]
    scores = rng.random(len(indices), np.float32) ** 3
    right = rng.random(len(indices), np.float32) < 0.4 * scores
    shape = (n_rows, n_labels)
    stored = sparse.csr_array((scores, indices, indptr), shape=shape)
    kept = np.append(0, np.cumsum(right))[indptr]
    truth = sparse.csr_array((np.ones(right.sum(), np.int8), indices[right], kept), shape=shape)
    return truth, stored


def rounded(n_rows, seed):
    """A mildly informative probability, written down with two decimals, at 10 % prevalence."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n_rows) < 0.1).astype(np.int8)
    odds = np.exp(rng.standard_normal(n_rows) + truth - 0.5) / 9
    return truth, np.round(odds / (1 + odds), 2)


def probabilities(size, seed=0):
    """Most are small, some are near one."""
    return np.random.default_rng(seed).beta(0.3, 1.5, size)


def stored_probabilities(n_rows, per_row, seed=0):
    """Candidates of a tagger: a few likely labels in each row, the rest unlikely."""
    rng = np.random.default_rng(seed)
    shape = (n_rows, 1_000 * per_row)
    columns = rng.integers(0, 1_000, (n_rows, per_row)) + 1_000 * np.arange(per_row)
    edges = np.arange(n_rows + 1) * per_row
    values = rng.beta(0.1, 1.5, n_rows * per_row)
    return sparse.csr_array((values, columns.ravel(), edges), shape=shape)
