"""The loops of `quadratic`, which `compiling` compiles for this processor; not part of the wheel.

Sums may be reordered and products fused into them, which vector registers need. A sum of n terms
of one sign stays good to n roundings in any order.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from halfmax._core import uncompiled as cython

import numpy as np

# ---- independent items


def curve(
    p: cython.const[cython.double][::1], block: cython.Py_ssize_t, tail: cython.double
) -> cython.double[::1]:
    """Expected F1 for k = 0..n; n and `block` are multiples of 4."""
    n: cython.Py_ssize_t = p.shape[0]
    n_blocks: cython.Py_ssize_t = (n + block - 1) // block
    kept: cython.double[:, ::1] = np.empty((n_blocks, n + 1))  # only what is written takes memory
    low: cython.longlong[::1] = np.zeros(n_blocks, np.int64)
    high: cython.longlong[::1] = np.zeros(n_blocks, np.int64)
    both: cython.double[:, ::1] = np.zeros((2, n + block + 9))
    among: cython.double[::1] = np.empty(14)
    with cython.nogil:
        _keep_distributions(p, block, tail, both, kept, low, high, among)
    widest = max([high[b] - low[b] + 1 for b in range(n_blocks)], default=0)
    # Row r is the distribution of S_k, k = r + the first level of the block; column 0 stays 0.
    rows: cython.double[:, ::1] = np.zeros((block + 1, widest + block + 2))
    counts: cython.double[::1] = np.arange(n + 1.0)
    s: cython.double[::1] = 1 / np.maximum(np.arange(2 * n + 1), 1)
    found: cython.double[::1] = np.zeros(n + 1)
    sums: cython.double[::1] = np.empty(4)
    b: cython.Py_ssize_t
    r: cython.Py_ssize_t
    with cython.nogil:
        for b in range(n_blocks - 1, -1, -1):
            first = b * block
            levels = min(n, first + block) - first
            least, width = low[b], high[b] - low[b] + 1
            for i in range(rows.shape[1] - 1):
                rows[0, i + 1] = kept[b, i] if i < width else 0.0
            span = width + levels + 2
            for r in range(levels):
                _one_item(rows[r, :span], p[first + r], rows[r + 1, :span])
            for r in range(levels, 0, -4):
                k = first + r
                greatest = high[b] + r
                _among_four(p[k - 1], p[k - 2], p[k - 3], p[k - 4], among)
                _four_sums(
                    counts[least : greatest + 1],
                    rows[r, 1:],
                    rows[r - 1, 1:],
                    rows[r - 2, 1:],
                    rows[r - 3, 1:],
                    s[k - 3 + least :],
                    among,
                    sums,
                )
                for i in range(4):
                    found[k - i] = 2 * sums[i]
                # Level k - 4 is asked for a from its least count to k - 4 more than its greatest.
                _four_levels_down(s[max(1, least) : k + greatest - 3], among)
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _keep_distributions(
    p: cython.const[cython.double][::1],
    block: cython.Py_ssize_t,
    tail: cython.double,
    both: cython.double[:, ::1],
    kept: cython.double[:, ::1],
    low: cython.longlong[::1],
    high: cython.longlong[::1],
    among: cython.double[::1],
) -> cython.void:
    """P(S_k = low..high) for k = 0, block, 2 block, ..., and the two ends.

    The two rows of `both` hold distributions from column 4 on, with zeros on either side.
    """
    side: cython.int = 0
    expected: cython.double = 0.0
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    width: cython.Py_ssize_t
    both[0, 4] = 1.0
    for b in range(kept.shape[0]):
        if b > 0:
            width = high[b - 1] - low[b - 1] + 1
            for k in range((b - 1) * block, b * block, 4):
                _among_four(p[k], p[k + 1], p[k + 2], p[k + 3], among)
                _four_items(both[side, : width + block + 8], among, both[1 - side])
                side = 1 - side
                expected += p[k] + p[k + 1] + p[k + 2] + p[k + 3]
            low[b] = low[b - 1]
            high[b] = high[b - 1] + block
        negligible = tail * min(1.0, expected)
        start, stop = 4, 4 + high[b] - low[b]
        while stop > 5 and both[side, stop] < negligible:
            stop -= 1
        while start < stop and both[side, start] < negligible:
            start += 1
        high[b] = low[b] + stop - 4
        low[b] += start - 4
        width = stop - start + 1
        for i in range(width):
            kept[b, i] = both[side, start + i]
        for i in range(width):
            both[side, 4 + i] = kept[b, i]
        for i in range(width + 4, width + block + 8):
            both[side, i] = 0.0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _among_four(
    p: cython.double,
    q: cython.double,
    r: cython.double,
    t: cython.double,
    among: cython.double[::1],
) -> cython.void:
    """The distributions of the positives among the first one, two, three and four of the items."""
    among[0], among[1] = 1 - p, p
    among[2], among[3], among[4] = among[0] - q * among[0], among[1] + q * (among[0] - p), q * p
    among[5] = among[2] - r * among[2]
    among[6] = among[3] + r * (among[2] - among[3])
    among[7] = among[4] + r * (among[3] - among[4])
    among[8] = r * among[4]
    among[9] = among[5] - t * among[5]
    among[10] = among[6] + t * (among[5] - among[6])
    among[11] = among[7] + t * (among[6] - among[7])
    among[12] = among[8] + t * (among[7] - among[8])
    among[13] = t * among[8]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _one_item(
    old: cython.const[cython.double][::1], p: cython.double, new: cython.double[::1]
) -> cython.void:
    """P(S_k = j) from P(S_{k-1} = j); the first column is left as it is."""
    for i in range(1, new.shape[0]):
        new[i] = old[i] + p * (old[i - 1] - old[i])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _four_items(
    old: cython.const[cython.double][::1],
    among: cython.const[cython.double][::1],
    new: cython.double[::1],
) -> cython.void:
    """P(S_k = j) from P(S_{k-4} = j); the first four columns are left as they are."""
    c1, c2, c3, c4 = among[10], among[11], among[12], among[13]
    for i in range(4, old.shape[0]):
        x = old[i]
        new[i] = x + (
            c1 * (old[i - 1] - x)
            + c2 * (old[i - 2] - x)
            + c3 * (old[i - 3] - x)
            + c4 * (old[i - 4] - x)
        )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _four_levels_down(
    s: cython.double[::1], among: cython.const[cython.double][::1]
) -> cython.void:
    """s(k - 4, a) from s(k, a), in place; the last four entries are only read."""
    c1, c2, c3, c4 = among[10], among[11], among[12], among[13]
    for a in range(s.shape[0] - 4):
        x = s[a]
        s[a] = x + (
            c1 * (s[a + 1] - x) + c2 * (s[a + 2] - x) + c3 * (s[a + 3] - x) + c4 * (s[a + 4] - x)
        )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _four_sums(
    counts: cython.const[cython.double][::1],
    row0: cython.const[cython.double][::1],
    row1: cython.const[cython.double][::1],
    row2: cython.const[cython.double][::1],
    row3: cython.const[cython.double][::1],
    s: cython.const[cython.double][::1],
    among: cython.const[cython.double][::1],
    sums: cython.double[::1],
) -> cython.void:
    """``sum_j j P(S = j) s(., . + j)`` of the levels k, k - 1, k - 2, k - 3.

    ``row0`` to ``row3`` are their distributions, all beginning at the first of ``counts``; ``s``
    belongs to level k and begins three entries before the one that level k multiplies by this
    count. Four loops, because gcc does not vectorise one that adds up all four.
    """
    a0, a1, b0, b1, b2 = among[0], among[1], among[2], among[3], among[4]
    c0, c1, c2, c3 = among[5], among[6], among[7], among[8]
    f0: cython.double = 0.0
    f1: cython.double = 0.0
    f2: cython.double = 0.0
    f3: cython.double = 0.0
    n: cython.Py_ssize_t = counts.shape[0]
    for i in range(n):
        f0 += counts[i] * row0[i] * s[i + 3]
    for i in range(n):
        f1 += counts[i] * row1[i] * (a0 * s[i + 2] + a1 * s[i + 3])
    for i in range(n):
        f2 += counts[i] * row2[i] * (b0 * s[i + 1] + b1 * s[i + 2] + b2 * s[i + 3])
    for i in range(n):
        f3 += counts[i] * row3[i] * (c0 * s[i] + c1 * s[i + 1] + c2 * s[i + 2] + c3 * s[i + 3])
    sums[0], sums[1], sums[2], sums[3] = f0, f1, f2, f3


# ---- many short rows


def best_of_long(rows: cython.const[cython.double][:, ::1], best: cython.longlong[::1]) -> None:
    """The best k of each row; a row fills the vector registers on its own."""
    n: cython.Py_ssize_t = rows.shape[1]
    size: cython.Py_ssize_t = (n + 3) // 4 * 4
    p: cython.double[::1] = np.zeros(size)
    all_of_row: cython.double[:, ::1] = np.zeros((size + 1, size + 2))  # column 0 stays 0
    counts: cython.double[::1] = np.arange(size + 1.0)
    reciprocals: cython.double[::1] = 1 / np.maximum(np.arange(2 * size + 1), 1)
    s: cython.double[::1] = np.empty(2 * size + 1)
    among: cython.double[::1] = np.empty(14)
    sums: cython.double[::1] = np.empty(4)
    most: cython.double
    k: cython.Py_ssize_t
    all_of_row[0, 1] = 1.0
    with cython.nogil:
        for row in range(rows.shape[0]):
            for k in range(n):
                p[k] = rows[row, k]
            for k in range(size):
                _one_item(all_of_row[k, : k + 3], p[k], all_of_row[k + 1, : k + 3])
            for a in range(s.shape[0]):
                s[a] = reciprocals[a]
            most = 0.0
            for k in range(size, 0, -4):
                _among_four(p[k - 1], p[k - 2], p[k - 3], p[k - 4], among)
                _four_sums(
                    counts[1 : k + 1],
                    all_of_row[k, 2:],
                    all_of_row[k - 1, 2:],
                    all_of_row[k - 2, 2:],
                    all_of_row[k - 3, 2:],
                    s[k - 2 :],
                    among,
                    sums,
                )
                for i in range(4):
                    if k - i <= n and sums[i] >= most:
                        most = sums[i]
                        best[row] = k - i
                _four_levels_down(s[1 : 2 * k - 3], among)
            if most == 0:
                best[row] = 0


def best_of_short(
    rows: cython.const[cython.double][:, ::1], lanes: cython.Py_ssize_t, best: cython.longlong[::1]
) -> None:
    """The best k of each row, as many rows side by side as there are lanes."""
    n_rows, n = rows.shape[0], rows.shape[1]
    p: cython.double[:, ::1] = np.zeros((n, lanes))
    # Entry j of a distribution is in column j + 1; column 0 stays 0.
    upto: cython.double[:, :, ::1] = np.zeros((n + 1, n + 2, lanes))
    s: cython.double[:, ::1] = np.empty((2 * n + 1, lanes))
    value: cython.double[::1] = np.empty(lanes)
    most: cython.double[::1] = np.empty(lanes)
    found: cython.longlong[::1] = np.empty(lanes, np.int64)
    start: cython.Py_ssize_t = 0
    k: cython.Py_ssize_t
    upto[0, 1, :] = 1.0
    with cython.nogil:
        while start < n_rows:
            here = min(lanes, n_rows - start)  # in the last round the other lanes are unused
            for lane in range(here):
                for k in range(n):
                    p[k, lane] = rows[start + lane, k]
            for k in range(n):
                for j in range(k + 2):
                    _mix(upto[k, j + 1], p[k], upto[k, j], upto[k + 1, j + 1])
            for a in range(1, 2 * n + 1):
                for lane in range(lanes):
                    s[a, lane] = 1.0 / a
            for lane in range(lanes):
                most[lane] = 0.0
                found[lane] = 0
            for k in range(n, 0, -1):
                for lane in range(lanes):
                    value[lane] = 0.0
                for j in range(1, k + 1):
                    _add_products(value, j, upto[k, j + 1], s[k + j])
                for lane in range(lanes):
                    found[lane] = k if value[lane] >= most[lane] else found[lane]
                    most[lane] = max(most[lane], value[lane])
                for a in range(1, 2 * k - 1):
                    _mix(s[a], p[k - 1], s[a + 1], s[a])
            for lane in range(here):
                best[start + lane] = found[lane] if most[lane] > 0 else 0
            start += lanes


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _mix(
    x: cython.const[cython.double][::1],
    p: cython.const[cython.double][::1],
    y: cython.const[cython.double][::1],
    target: cython.double[::1],
) -> cython.void:
    for lane in range(target.shape[0]):
        target[lane] = x[lane] + p[lane] * (y[lane] - x[lane])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _add_products(
    total: cython.double[::1],
    j: cython.double,
    x: cython.const[cython.double][::1],
    y: cython.const[cython.double][::1],
) -> cython.void:
    for lane in range(total.shape[0]):
        total[lane] += j * x[lane] * y[lane]


# ---- dependent labels


def add_model(
    q: cython.double[:, ::1], share: cython.double, p: cython.const[cython.double][::1]
) -> None:
    """Add ``share * p_i * P(s - 1 positives among the others)`` to q.

    From ``size[j] = (1 - p_i) others[j] + p_i others[j - 1]`` the others follow upwards or
    downwards. Upwards an error shrinks where ``others[j] / others[j - 1]`` is above the odds of
    p_i, downwards where it is below. The ratio falls with j, so that going up to where it passes
    the odds, and down to there from the other end, keeps all digits in both tails.
    """
    n: cython.Py_ssize_t = p.shape[0]
    size: cython.double[::1] = np.zeros(n + 1)
    first: cython.Py_ssize_t = 0
    last: cython.Py_ssize_t = n
    low: cython.Py_ssize_t
    high: cython.Py_ssize_t
    j: cython.Py_ssize_t
    others: cython.double
    size[0] = 1.0
    with cython.nogil:
        for k in range(n):
            for j in range(k + 1, 0, -1):  # a sum of two positive terms, right in the tails too
                size[j] = (1 - p[k]) * size[j] + p[k] * size[j - 1]
            size[0] *= 1 - p[k]
        for j in range(n + 1):
            size[j] = 0.0 if size[j] < 1e-280 else size[j]
        while size[first] == 0:
            first += 1
        while size[last] == 0:
            last -= 1
        for i in range(n):
            odds = p[i] / (1 - p[i])
            low, high = first, last  # the last j whose ratio is not below the odds, by bisection
            while low < high:
                middle = (low + high + 1) // 2
                if size[middle] >= odds * size[middle - 1]:
                    low = middle
                else:
                    high = middle - 1
            scale = share * p[i]
            others = 0.0
            for j in range(first, min(low + 1, n)):
                others = size[j] / (1 - p[i]) - odds * others
                q[i, j] += scale * others
            others = 0.0
            for j in range(last, low + 1, -1):
                others = size[j] / p[i] - others / odds
                q[i, j - 1] += scale * others
