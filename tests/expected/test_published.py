"""The published algorithms that benchmarks compare with, run by the interpreter."""

import naive
import numpy as np
import pytest

from benchmarks import quadratic, quadratic_kernels

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setattr(quadratic, "kernels", lambda: quadratic_kernels)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 16, 17, 21])
@pytest.mark.parametrize("tail", [0.0, 1e-30])
def test_curve(n, tail):
    p = rng.beta(0.3, 1.5, n)
    expected = naive.convolved_curve(p)
    np.testing.assert_allclose(quadratic.curve_quadratic(p, tail), expected, rtol=1e-12)


@pytest.mark.parametrize("length", [1, 3, 8, 33, 34])
def test_rows(length):
    rows = -np.sort(-rng.beta(0.3, 1.5, (3, length)), axis=1)
    expected = [quadratic.best_k_quadratic(row)[0] for row in rows]
    assert quadratic.rows_quadratic(rows).tolist() == expected


def test_dependent_labels():
    q, p_empty = quadratic.joint_example(5)
    assert q.sum(axis=0) @ (1 / np.arange(1, 6)) + p_empty == pytest.approx(1)
    predictions, value = quadratic.joint_blas(q, p_empty)
    worth = (q * 2 / (np.arange(1, 6) + predictions.sum())).sum(axis=1)
    assert value == pytest.approx(worth[predictions == 1].sum())
