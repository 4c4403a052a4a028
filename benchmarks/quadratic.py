"""The published exact maximisers of expected F1, written to be hard to beat.

Independent items. Predict the k most probable of n items. With S_k the number of positives among
them and R_k the number of positives among the others, F1 is ``2 S_k / (k + S_k + R_k)``, so

    f(k) = E[F1] = sum_j 2 j P(S_k = j) s(k, k + j),    s(k, a) = E[1 / (a + R_k)].

Ye, Chai, Lee and Chieu ("Optimizing F-measure: a tale of two approaches", ICML 2012) get every
f(k) in O(n^2) from two recursions, one item at a time:

    P(S_k = j)  = (1 - p_k) P(S_{k-1} = j) + p_k P(S_{k-1} = j - 1)   forward from P(S_0 = 0) = 1,
    s(k - 1, a) = (1 - p_k) s(k, a)        + p_k s(k, a + 1)          backward from s(n, a) = 1/a.

What is done here to make them fast:

- s is one array, updated in place. f(k) reads it up to a = 2k, so it shrinks by two a level.
- The recursions run in opposite directions. The forward one is run twice: once to keep every
  sqrt(n)-th distribution, then from each of those again for the levels that follow it. That is
  O(n sqrt n) memory instead of O(n^2), and unlike running the recursion in reverse it only ever
  adds, so that it loses no digits.
- s goes four levels at a time: five weights, the distribution of the positives among four items,
  replace four passes over the array. The three levels in between are formed in registers, for the
  k entries of s that their sums need.
- Every update is written ``x + p (y - x)``. Weights that do not add up to 1 to the last bit would
  drift by one rounding per level, in the same direction if the probabilities are equal.

Dependent labels. Dembczynski, Waegeman, Cheng and Huellermeier ("An exact algorithm for F-measure
maximization", NIPS 2011; Waegeman et al., JMLR 15, 2014) start from ``q[i, s - 1]``, the
probability that label i is positive together with s - 1 others. Label i adds
``D[i, k] = sum_s q[i, s - 1] 2 / (s + k)`` to the expected F1 of a prediction of k labels: a matrix
product, then for each k the sum of the k largest entries of a column.
"""

import numba
import numpy as np

TOGETHER = 4  # levels that one pass over s goes down; the kernels are written out for this number
SHORT = 32  # rows up to this length are worked side by side, longer ones one by one
LANES = 128  # how many rows side by side
SORT_BELOW = 512  # labels; np.sort of a whole matrix is one call, np.partition one for each row

# Sums may be reordered and products fused into them, which vector registers need. A sum of n terms
# of one sign stays good to n roundings in any order.
_kernel = numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})


# Independent items ------------------------------------------------------------------------------


def best_k_quadratic(p, tail=0.0):
    """The number of items to predict, and its expected F1; ties go to the smallest k."""
    curve = curve_quadratic(p, tail)
    best = int(np.argmax(curve))
    return best, float(curve[best])


def curve_quadratic(p, tail=0.0):
    """Expected F1 of predicting the k most probable of independent items, for k = 0..n.

    The empty prediction earns 0. With ``tail`` 0 this is the published algorithm with all its
    terms: 2 n^2 updates and n^2 / 2 products. A positive ``tail`` leaves out of each kept
    distribution the ends where P(S_k = j) is less (than ``tail`` times the expected S_k, if that is
    less than 1), and the entries of s that only they would use. With 1e-30 the result differs by
    less than rounding, memory is O(n), and the time is still O(n^2), about a quarter of the
    updates: at level k only the entries s(k, a) with ``a`` between the least S_k and k more than
    the greatest.

    Exact to rounding: s and the distributions are each rounded about n / 4 times. For n = 20,000
    this is some 1e-14 of f(k), and up to 5e-13 if all probabilities are equal and extreme, so that
    the roundings go the same way.
    """
    p = np.sort(np.asarray(p, np.float64))[::-1]
    padded = np.zeros(-(-p.size // TOGETHER) * TOGETHER)  # items that are never positive
    padded[: p.size] = p
    block = TOGETHER * max(TOGETHER, round(p.size**0.5 / TOGETHER))
    return _curve(padded, block, tail)[: p.size + 1]


@_kernel
def _curve(p, block, tail):
    n = p.size
    n_blocks = -(-n // block)
    kept, low, high = _kept_distributions(p, block, n_blocks, tail)
    widest = (high - low).max() + 1 if n_blocks else 0
    # Row r is the distribution of S_k, k = r + the first level of the block; column 0 stays 0.
    rows = np.zeros((block + 1, widest + block + 2))
    counts = np.arange(n + 1).astype(np.float64)
    s = 1 / np.maximum(np.arange(2 * n + 1), 1)
    curve = np.zeros(n + 1)
    for b in range(n_blocks - 1, -1, -1):
        first = b * block
        levels = min(n, first + block) - first
        least, width = low[b], high[b] - low[b] + 1
        rows[0, 1 : width + 1] = kept[b, :width]
        rows[0, width + 1 :] = 0
        span = width + levels + 2
        for r in range(levels):
            _one_item(rows[r, :span], p[first + r], rows[r + 1, :span])
        for r in range(levels, 0, -TOGETHER):
            k = first + r
            greatest = high[b] + r
            after = _among_four(p[k - 1], p[k - 2], p[k - 3], p[k - 4])
            curve[k], curve[k - 1], curve[k - 2], curve[k - 3] = _four_sums(
                counts[least : greatest + 1],
                rows[r, 1:],
                rows[r - 1, 1:],
                rows[r - 2, 1:],
                rows[r - 3, 1:],
                s[k - 3 + least :],
                after,
            )
            # Level k - 4 is asked for a from its least count to k - 4 more than its greatest.
            _four_levels_down(s[max(1, least) : k + greatest - 3], after[3])
    return 2 * curve


@_kernel
def _kept_distributions(p, block, n_blocks, tail):
    """P(S_k = low..high) for k = 0, block, 2 block, ..., and the two ends."""
    n = p.size
    kept = np.empty((n_blocks, n + 1))  # of which only what is written takes memory
    low = np.zeros(n_blocks, np.int64)
    high = np.zeros(n_blocks, np.int64)
    this = np.zeros(n + block + 9)  # from column 4 on, zeros on either side
    that = np.zeros(n + block + 9)
    this[4] = 1
    expected = 0.0
    for b in range(n_blocks):
        if b:
            width = high[b - 1] - low[b - 1] + 1
            for k in range((b - 1) * block, b * block, TOGETHER):
                among = _among_four(p[k], p[k + 1], p[k + 2], p[k + 3])
                _four_items(this[: width + block + 8], among[3], that[: width + block + 8])
                this, that = that, this
                expected += p[k] + p[k + 1] + p[k + 2] + p[k + 3]
            low[b] = low[b - 1]
            high[b] = high[b - 1] + block
        negligible = tail * min(1.0, expected)
        start, stop = 4, 4 + high[b] - low[b]
        while stop > 5 and this[stop] < negligible:
            stop -= 1
        while start < stop and this[start] < negligible:
            start += 1
        high[b] = low[b] + stop - 4
        low[b] += start - 4
        width = stop - start + 1
        kept[b, :width] = this[start : stop + 1]
        this[4 : width + 4] = kept[b, :width]
        this[width + 4 : width + block + 8] = 0
    return kept, low, high


@_kernel
def _among_four(p, q, r, t):
    """The distribution of the positives among the first one, two, three and four of the items."""
    one = (1 - p, p)
    two = (one[0] - q * one[0], one[1] + q * (one[0] - one[1]), q * p)
    three = (
        two[0] - r * two[0],
        two[1] + r * (two[0] - two[1]),
        two[2] + r * (two[1] - two[2]),
        r * two[2],
    )
    four = (
        three[0] - t * three[0],
        three[1] + t * (three[0] - three[1]),
        three[2] + t * (three[1] - three[2]),
        three[3] + t * (three[2] - three[3]),
        t * three[3],
    )
    return one, two, three, four


@_kernel
def _one_item(old, p, new):
    """P(S_k = j) from P(S_{k-1} = j); the first column is left as it is."""
    below, here, target = old[:-1], old[1:], new[1:]
    for i in range(target.size):
        target[i] = here[i] + p * (below[i] - here[i])


@_kernel
def _four_items(old, among, new):
    """P(S_k = j) from P(S_{k-4} = j); the first four columns are left as they are."""
    _, c1, c2, c3, c4 = among
    target = new[4:]
    for i in range(target.size):
        x = old[i + 4]
        target[i] = x + (
            c1 * (old[i + 3] - x)
            + c2 * (old[i + 2] - x)
            + c3 * (old[i + 1] - x)
            + c4 * (old[i] - x)
        )


@_kernel
def _four_levels_down(s, among):
    """s(k - 4, a) from s(k, a), in place; the last four entries are only read."""
    _, c1, c2, c3, c4 = among
    for a in range(s.size - 4):
        x = s[a]
        s[a] = x + (
            c1 * (s[a + 1] - x) + c2 * (s[a + 2] - x) + c3 * (s[a + 3] - x) + c4 * (s[a + 4] - x)
        )


@_kernel
def _four_sums(counts, row0, row1, row2, row3, s, among):
    """``sum_j j P(S = j) s(., . + j)`` of the levels k, k - 1, k - 2, k - 3.

    ``row0`` to ``row3`` are their distributions, all beginning at the first of ``counts``; ``s``
    belongs to level k and begins three entries before the one that level k multiplies by this
    count.
    """
    (a0, a1), (b0, b1, b2), (c0, c1, c2, c3), _ = among
    f0 = f1 = f2 = f3 = 0.0
    for i in range(counts.size):
        j = counts[i]
        f0 += j * row0[i] * s[i + 3]
        f1 += j * row1[i] * (a0 * s[i + 2] + a1 * s[i + 3])
        f2 += j * row2[i] * (b0 * s[i + 1] + b1 * s[i + 2] + b2 * s[i + 3])
        f3 += j * row3[i] * (c0 * s[i] + c1 * s[i + 1] + c2 * s[i + 2] + c3 * s[i + 3])
    return f0, f1, f2, f3


# Many short rows --------------------------------------------------------------------------------


def rows_quadratic(sorted_rows):
    """The best k of each row of probabilities, which fall from left to right; one thread.

    Rows of at most `SHORT` entries are worked `LANES` at a time, one in each lane of the vector
    registers, by the plain recursions. Longer ones fill the registers on their own and use the
    kernels of `curve_quadratic`, but keep all distributions, which fit into the cache.
    """
    rows = np.ascontiguousarray(sorted_rows, np.float64)
    best = np.zeros(len(rows), np.int64)
    if rows.size:
        (_best_of_short if rows.shape[1] <= SHORT else _best_of_long)(rows, best)
    return best


@_kernel
def _best_of_long(rows, best):
    n = rows.shape[1]
    size = -(-n // TOGETHER) * TOGETHER
    p = np.zeros(size)
    distributions = np.zeros((size + 1, size + 2))  # column 0 stays 0
    distributions[0, 1] = 1
    counts = np.arange(size + 1).astype(np.float64)
    reciprocals = 1 / np.maximum(np.arange(2 * size + 1), 1)
    s = np.empty(2 * size + 1)
    for row in range(len(rows)):
        p[:n] = rows[row]
        for k in range(size):
            _one_item(distributions[k, : k + 3], p[k], distributions[k + 1, : k + 3])
        s[:] = reciprocals
        most = 0.0
        for k in range(size, 0, -TOGETHER):
            after = _among_four(p[k - 1], p[k - 2], p[k - 3], p[k - 4])
            values = _four_sums(
                counts[1 : k + 1],
                distributions[k, 2:],
                distributions[k - 1, 2:],
                distributions[k - 2, 2:],
                distributions[k - 3, 2:],
                s[k - 2 :],
                after,
            )
            for i in range(TOGETHER):
                if k - i <= n and values[i] >= most:
                    most = values[i]
                    best[row] = k - i
            _four_levels_down(s[1 : 2 * k - 3], after[3])
        if most == 0:
            best[row] = 0


@_kernel
def _best_of_short(rows, best):
    n_rows, n = rows.shape
    lanes = min(LANES, n_rows)
    p = np.zeros((n, lanes))
    distributions = np.zeros((n + 1, n + 2, lanes))  # entry j in column j + 1; column 0 stays 0
    distributions[0, 1] = 1
    s = np.empty((2 * n + 1, lanes))
    value = np.empty(lanes)
    most = np.empty(lanes)
    found = np.empty(lanes, np.int64)
    for start in range(0, n_rows, lanes):
        here = min(lanes, n_rows - start)  # in the last round the other lanes are unused
        for lane in range(here):
            for k in range(n):
                p[k, lane] = rows[start + lane, k]
        for k in range(n):
            old, new = distributions[k], distributions[k + 1]
            for j in range(k + 2):
                _mix(old[j + 1], p[k], old[j], new[j + 1])
        for a in range(1, 2 * n + 1):
            s[a] = 1 / a
        most[:] = 0
        found[:] = 0
        for k in range(n, 0, -1):
            value[:] = 0
            for j in range(1, k + 1):
                _add_products(value, j, distributions[k, j + 1], s[k + j])
            for lane in range(lanes):
                if value[lane] >= most[lane]:
                    most[lane] = value[lane]
                    found[lane] = k
            for a in range(1, 2 * k - 1):
                _mix_into(s[a], p[k - 1], s[a + 1])
        for lane in range(here):
            best[start + lane] = found[lane] if most[lane] > 0 else 0


@_kernel
def _mix(x, p, y, target):
    for lane in range(target.size):
        target[lane] = x[lane] + p[lane] * (y[lane] - x[lane])


@_kernel
def _mix_into(x, p, y):
    for lane in range(x.size):
        x[lane] += p[lane] * (y[lane] - x[lane])


@_kernel
def _add_products(total, j, x, y):
    for lane in range(total.size):
        total[lane] += j * x[lane] * y[lane]


# Dependent labels -------------------------------------------------------------------------------


def joint_blas(q, p_empty, zero_division=0.0):
    """The prediction with the greatest expected F1, and that value, from ``q[i, s - 1]``.

    ``p_empty`` is the probability that no label is positive, when the empty prediction earns
    ``zero_division``. The matrix product is written so that its rows, one for each k, are
    contiguous. Sizes s of no probability are left out of it. Of a tie the least k wins, and of
    equal labels the first.
    """
    q = np.asarray(q, np.float64)
    n = len(q)
    sizes = np.arange(1.0, n + 1)
    possible = q.any(axis=0)
    if possible.all():
        worth = 2 / np.add.outer(sizes, sizes) @ q.T
    else:
        worth = 2 / np.add.outer(sizes, sizes[possible]) @ q[:, possible].T
    if n < SORT_BELOW:
        sums = np.tril(np.sort(worth, axis=1)[:, ::-1]).sum(axis=1)
    else:
        sums = np.array([np.partition(row, n - k)[n - k :].sum() for k, row in enumerate(worth, 1)])
    predictions = np.zeros(n, np.int8)
    best = int(np.argmax(sums))
    empty = p_empty * zero_division
    if empty >= sums[best]:
        return predictions, float(empty)
    predictions[np.argsort(-worth[best], kind="stable")[: best + 1]] = 1
    return predictions, float(sums[best])


def joint_example(n, seed=0, n_models=32):
    """``(q, p_empty)`` of n dependent labels: one of some models holds, unknown which.

    Given the model the labels are independent. The models expect from few to nearly all labels to
    be positive, so that sizes are spread over 1..n, and each favours labels of its own.
    ``P(y_i = 1, |y| = s)`` is the mean over models of p_i times the probability of s - 1 positives
    among the others, which is the distribution of the size with one factor divided out. Exact but
    for rounding, and for probabilities below 1e-280, which are 0.
    """
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_models, 5.0))
    popularity = rng.standard_normal(n)
    q = np.zeros((n, n))
    p_empty = 0.0
    for share, rate in zip(shares, np.linspace(0.02, 0.98, n_models), strict=True):
        logit = np.log(rate / (1 - rate)) + popularity + rng.standard_normal(n)
        p = 1 / (1 + np.exp(-logit))
        p_empty += share * np.prod(1 - p)
        _add_model(q, share, p)
    return q, float(p_empty)


@_kernel
def _add_model(q, share, p):
    """Add ``share * p_i * P(s - 1 positives among the others)`` to q.

    From ``size[j] = (1 - p_i) others[j] + p_i others[j - 1]`` the others follow upwards or
    downwards. Upwards an error shrinks where ``others[j] / others[j - 1]`` is above the odds of
    p_i, downwards where it is below. The ratio falls with j, so that going up to where it passes
    the odds, and down to there from the other end, keeps all digits in both tails.
    """
    n = p.size
    size = np.zeros(n + 1)
    size[0] = 1
    for k in range(n):
        for j in range(k + 1, 0, -1):  # a sum of two positive terms, right in the tails too
            size[j] = (1 - p[k]) * size[j] + p[k] * size[j - 1]
        size[0] *= 1 - p[k]
    size[size < 1e-280] = 0
    possible = np.flatnonzero(size)
    first, last = possible[0], possible[-1]
    for i in range(n):
        odds = p[i] / (1 - p[i])
        low, high = first, last  # the last j whose ratio is not below the odds, by bisection
        while low < high:
            middle = (low + high + 1) // 2
            if size[middle] >= odds * size[middle - 1]:
                low = middle
            else:
                high = middle - 1
        row = q[i]
        scale = share * p[i]
        others = 0.0
        for j in range(first, min(low + 1, n)):
            others = size[j] / (1 - p[i]) - odds * others
            row[j] += scale * others
        others = 0.0
        for j in range(last, low + 1, -1):
            others = size[j] / p[i] - others / odds
            row[j - 1] += scale * others
