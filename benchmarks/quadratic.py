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

import numpy as np

from benchmarks.compiling import compiled

TOGETHER = 4  # levels that one pass over s goes down; the kernels are written out for it
SHORT = 32  # rows up to this length are worked side by side, longer ones one by one
LANES = 128  # how many rows side by side
SORT_BELOW = 512  # labels; np.sort of a whole matrix is one call, np.partition one for each row


def kernels():
    """The loops, compiled."""
    return compiled("quadratic_kernels")


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
    return np.asarray(kernels().curve(padded, block, tail))[: p.size + 1]


# Many short rows --------------------------------------------------------------------------------


def rows_quadratic(sorted_rows):
    """The best k of each row of probabilities, which fall from left to right; one thread.

    Rows of at most `SHORT` entries are worked `LANES` at a time, one in each lane of the vector
    registers, by the plain recursions. Longer ones fill the registers on their own and use the
    kernels of `curve_quadratic`, but keep all distributions, which fit into the cache.
    """
    rows = np.ascontiguousarray(sorted_rows, np.float64)
    best = np.zeros(len(rows), np.int64)
    if rows.size and rows.shape[1] <= SHORT:
        kernels().best_of_short(rows, min(LANES, len(rows)), best)
    elif rows.size:
        kernels().best_of_long(rows, best)
    return best


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
        kernels().add_model(q, share, p)
    return q, float(p_empty)
