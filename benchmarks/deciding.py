"""Speed of decisions without labels, compared with published algorithms and a bare sort."""

from unittest import mock

import numpy as np

import halfmax as hm
from benchmarks import data, quadratic
from benchmarks.measure import peak_extra_bytes, seconds

QUADRATIC = "the published O(n^2) algorithm, also compiled"
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 100_000, 10**6, 10**7)


def single_rows():
    p = data.probabilities(20_000)
    hm.decide(p), hm.expected_curve(p)  # loads the kernels
    k, reached = quadratic.best_k_quadratic(p)
    ours = hm.decide(p)
    assert ours.counts[0] == k
    assert abs(ours.expected_score / reached - 1) < 1e-12
    theirs = seconds(quadratic.curve_quadratic, p)
    yield "decide, n = 20,000", seconds(hm.decide, p, repeats=9), QUADRATIC, theirs
    yield "expected_curve, n = 20,000", seconds(hm.expected_curve, p, repeats=9), QUADRATIC, theirs
    p = data.probabilities(10**6)
    sort = seconds(np.sort, p, repeats=9)
    yield "decide, n = 10^6", seconds(hm.decide, p, repeats=9), "np.sort", sort
    for metric in ("f1", "f0.5", "jaccard", "recall"):
        took = seconds(hm.expected_curve, p, metric)
        yield f"expected_curve, n = 10^6, {metric}", took, "np.sort", sort


def matrix_rows():
    dense = data.probabilities(2_000 * 5_000).reshape(2_000, 5_000)
    sort = seconds(np.sort, dense, axis=1)
    for average in ("samples", "macro", "micro"):
        took = seconds(hm.decide, dense, average=average)
        yield f"decide, dense 2,000 x 5,000, {average}", took, "np.sort(P, axis=1)", sort


def sparse_note():
    """Rows of 100 stored probabilities, of which a handful are large."""
    stored = data.stored_probabilities(100_000, 100)
    took = seconds(hm.decide, stored, average="samples")
    return (
        f"CSR with 100 stored probabilities a row: {100_000 / took:,.0f} rows a second, all cores"
    )


def memory_note():
    p = data.probabilities(10**7)
    hm.decide(p[:1000]), hm.expected_curve(p[:1000])
    used = [peak_extra_bytes(work, p) / p.nbytes for work in (hm.decide, hm.expected_curve)]
    return (
        f"Peak extra memory at n = 10^7: decide {used[0]:.1f}, expected_curve {used[1]:.1f} times p"
    )


def short_rows():
    """Rows per second on one core, for each row length."""
    for length in (5, 10, 20, 50, 100, 200):
        rows = data.probabilities(1_000_000).reshape(-1, length)
        falling = -np.sort(-rows, axis=1)
        with mock.patch("halfmax._core.threads.available_cores", return_value=1):
            ours = seconds(hm.decide, rows, average="samples")
        theirs = seconds(quadratic.rows_quadratic, falling)
        yield length, len(rows) / ours, len(rows) / theirs


def joint_rows():
    for n, instances in ((10, 1_000), (20, 1_000), (100, 50), (400, 4), (1_000, 1), (4_000, 1)):
        q, p_empty = quadratic.joint_example(n)
        _, reached = quadratic.joint_blas(q, p_empty)
        assert abs(hm.decide_joint(q, p_empty).expected_score / reached - 1) < 1e-12
        many = np.repeat(q[None], instances, axis=0), np.full(instances, p_empty)

        def loop(qs, ps):
            return [quadratic.joint_blas(q, p) for q, p in zip(qs, ps, strict=True)]

        name = f"decide_joint, {instances:,} x {n:,} labels"
        ours = seconds(hm.decide_joint, *many)
        yield name, ours, "the matrix product in BLAS", seconds(loop, *many)


def growth_rows():
    """Seconds against n, for the plot."""
    for size in SIZES:
        p = data.probabilities(size)
        repeats = 9 if size < 10**6 else 3
        yield "decide", size, seconds(hm.decide, p, repeats=repeats)
        yield "expected_curve", size, seconds(hm.expected_curve, p, repeats=repeats)
        yield "np.sort", size, seconds(np.sort, p, repeats=repeats)
        if size <= 20_000:
            yield "O(n^2), published", size, seconds(quadratic.curve_quadratic, p)
