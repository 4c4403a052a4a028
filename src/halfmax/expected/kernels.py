"""The loops behind `expected_curve` and `decide` for long batches: sums over a few dozen nodes.

They evaluate the formula that the docstring of `halfmax.expected.curve` derives. A node stands for
one exponential of ``1/x = sum(weight * exp(-x * time))``. It is a column of the array `nodes`,
whose rows are

    0  its time                                  5, 6  the log of the product of 1 - p * lose over
    1  its weight                                      items, and the rounding error of that sum
    2  keep = exp(-b2 * time)                    7, 8  the sum of p / (1 - p * lose) over items,
    3  lose = 1 - keep                                 and its rounding error
    4  step = exp(-rate * time)

Only the first `size` columns are in use, at most 256, a multiple of four. The items `p` of a batch
fall.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from halfmax._core import uncompiled as cython
if cython.compiled:
    from cython.cimports.libc.math import exp, expm1, log, log1p
else:
    from math import exp, expm1, log, log1p

from halfmax._core.reciprocal import DEAD, WIDTH

_BLOCK = cython.declare(cython.Py_ssize_t, 64)  # a product or sum this long loses no accuracy
_HEAVY = cython.declare(cython.double, 0.5)
_DEAD = cython.declare(cython.double, DEAD)
_WIDTH = cython.declare(cython.Py_ssize_t, WIDTH)


# ---- sums whose rounding errors are carried along


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_exactly(
    nodes: cython.double[:, ::1], row: cython.Py_ssize_t, j: cython.Py_ssize_t, value: cython.double
) -> cython.void:
    """Add a value by Kahan summation: the sum is in `row`, its rounding error in the row below."""
    value -= nodes[row + 1, j]
    new = nodes[row, j] + value
    nodes[row + 1, j] = (new - nodes[row, j]) - value
    nodes[row, j] = new


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sum_up(
    values: cython.const[cython.double][:], skipped: cython.Py_ssize_t, out: cython.double[:]
) -> cython.void:
    """Sum the values by Kahan summation; fill `out` with the sums, the first ones skipped."""
    total: cython.double = 0.0
    error: cython.double = 0.0
    for i in range(values.shape[0]):
        value = values[i] - error
        new = total + value
        error = (new - total) - value
        total = new
        if i >= skipped:
            out[i - skipped] = total


def running_sum(values: cython.const[cython.double][:], out: cython.double[:]) -> None:
    """Fill `out` with the sums of the first, the first two, ... values, each rounded once."""
    with cython.nogil:
        _sum_up(values, 0, out)


# ---- nodes


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _open(
    b2: cython.double, rate: cython.double, nodes: cython.double[:, ::1], size: cython.Py_ssize_t
) -> cython.void:
    """Fill all rows but times and weights; no item is in the sums yet."""
    for j in range(size):
        nodes[2, j] = exp(-b2 * nodes[0, j])
        nodes[3, j] = -expm1(-b2 * nodes[0, j])
        nodes[4, j] = exp(-rate * nodes[0, j])
        nodes[5, j] = nodes[6, j] = nodes[7, j] = nodes[8, j] = 0.0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _living(
    lo: cython.double, nodes: cython.double[:, ::1], size: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Count the nodes that still matter for x >= lo, where lo may have risen."""
    while size > _WIDTH and nodes[0, size - _WIDTH] * lo > _DEAD:
        size -= _WIDTH
    return size


# ---- the product over items, and the sum over the predicted ones


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _add_log_none(
    p: cython.const[cython.double][:],
    sign: cython.double,
    nodes: cython.double[:, ::1],
    size: cython.Py_ssize_t,
) -> cython.void:
    """Add the logarithms of ``1 - p + p keep`` for these falling probabilities.

    A product of factors near 1 is kept as its distance from 1, so that nothing is rounded away,
    and one logarithm serves many items.
    """
    gone = cython.declare(cython.double[256])
    lose = cython.declare(cython.double[256])
    i: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t = p.shape[0]
    for j in range(size):
        lose[j] = nodes[3, j]
    while i < end and p[i] * lose[size - 1] > _HEAVY:
        for j in range(size):
            _add_exactly(nodes, 5, j, sign * log((1.0 - p[i]) + p[i] * nodes[2, j]))
        i += 1
    while i < end and p[i] > 0.0:
        for j in range(size):
            gone[j] = 0.0
        stop = min(i + 2 * _BLOCK, end)
        while i < stop and gone[size - 1] <= _HEAVY:
            hit = p[i]
            for j in range(size):
                gone[j] += hit * lose[j] * (1.0 - gone[j])
            i += 1
        for j in range(size):
            _add_exactly(nodes, 5, j, sign * log1p(-gone[j]))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _add_hits(
    p: cython.const[cython.double][:], nodes: cython.double[:, ::1], size: cython.Py_ssize_t
) -> cython.void:
    """Add the terms ``p / (1 - p + p keep)`` of these items."""
    keep = cython.declare(cython.double[256])
    local = cython.declare(cython.double[256])
    begin: cython.Py_ssize_t = 0
    for j in range(size):
        keep[j] = nodes[2, j]
    while begin < p.shape[0]:
        for j in range(size):
            local[j] = 0.0
        for i in range(begin, min(begin + _BLOCK, p.shape[0])):
            hit, miss = p[i], 1.0 - p[i]
            for j in range(size):
                local[j] += hit / (miss + hit * keep[j])
        for j in range(size):
            _add_exactly(nodes, 7, j, local[j])
        begin += _BLOCK


# ---- one item after the other


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _walk_f(
    p: cython.const[cython.double][:],
    done: cython.Py_ssize_t,
    rate: cython.double,
    b2: cython.double,
    scale: cython.double,
    fewest: cython.double,
    nodes: cython.double[:, ::1],
    n_nodes: cython.Py_ssize_t,
    out: cython.double[::1],
) -> cython.void:
    """Expected F after adding each of these items to `done` items already predicted.

    At least `fewest` items are true.
    """
    keep = cython.declare(cython.double[256])
    step = cython.declare(cython.double[256])
    decay = cython.declare(cython.double[256])
    local = cython.declare(cython.double[256])
    before = cython.declare(cython.double[256])
    total = cython.declare(cython.double[4])
    begin: cython.Py_ssize_t = 0
    for j in range(n_nodes):
        keep[j], step[j] = nodes[2, j], nodes[4, j]
    while begin < p.shape[0]:
        k = done + begin + 1.0
        size = _living(rate * k + b2 * fewest, nodes, n_nodes)
        for j in range(size):
            power = nodes[5, j] - (rate * k) * nodes[0, j]
            decay[j] = scale * nodes[1, j] * nodes[2, j] * exp(power)
            local[j], before[j] = 0.0, nodes[7, j]
        for i in range(begin, min(begin + _BLOCK, p.shape[0])):
            hit, miss = p[i], 1.0 - p[i]
            for j in range(size):
                local[j] += hit / (miss + hit * keep[j])
            total[0] = total[1] = total[2] = total[3] = 0.0
            for j in range(0, size, 4):
                for lane in range(4):
                    total[lane] += decay[j + lane] * (before[j + lane] + local[j + lane])
            for j in range(size):
                decay[j] *= step[j]
            out[i] = (total[0] + total[2]) + (total[1] + total[3])
        for j in range(size):
            _add_exactly(nodes, 7, j, local[j])
        begin += _BLOCK


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _walk_union(
    p: cython.const[cython.double][:],
    done: cython.Py_ssize_t,
    nodes: cython.double[:, ::1],
    n_nodes: cython.Py_ssize_t,
    out: cython.double[::1],
) -> cython.void:
    """Expected Jaccard after each of these items; `out` comes with the sum of p up to each.

    The product in the nodes runs over the items not yet predicted, which are independent of the
    predicted ones:
    ``E[S / (k + T - S)] = E[S] * E[1 / (k + number true among the rest)]``.
    """
    keep = cython.declare(cython.double[256])
    step = cython.declare(cython.double[256])
    decay = cython.declare(cython.double[256])
    total = cython.declare(cython.double[4])
    begin: cython.Py_ssize_t = 0
    for j in range(n_nodes):
        keep[j], step[j] = nodes[2, j], nodes[4, j]
    while begin < p.shape[0]:
        stop = min(begin + _BLOCK, p.shape[0])
        size = _living(max(1.0, cython.cast(cython.double, done + begin)), nodes, n_nodes)
        for j in range(size):
            power = nodes[5, j] - (done + begin) * nodes[0, j]
            decay[j] = nodes[1, j] * exp(power)
        for i in range(begin, stop):
            hit, miss = p[i], 1.0 - p[i]
            for j in range(size):
                decay[j] *= step[j] / (miss + hit * keep[j])
            total[0] = total[1] = total[2] = total[3] = 0.0
            for j in range(0, size, 4):
                for lane in range(4):
                    total[lane] += decay[j + lane]
            out[i] *= (total[0] + total[2]) + (total[1] + total[3])
        _add_log_none(p[begin:stop], -1.0, nodes, n_nodes)
        begin += _BLOCK


# ---- one batch, a part at a time


def open_nodes(b2: cython.double, rate: cython.double, nodes: cython.double[:, ::1]) -> None:
    """Fill all rows but times and weights; no item is in the sums yet."""
    with cython.nogil:
        _open(b2, rate, nodes, nodes.shape[1])


def add_log_none(p: cython.const[cython.double][:], nodes: cython.double[:, ::1]) -> None:
    """Add the logarithms of ``1 - p + p keep`` for these falling probabilities."""
    with cython.nogil:
        _add_log_none(p, 1.0, nodes, nodes.shape[1])


def walk(
    p: cython.const[cython.double][:],
    done: cython.Py_ssize_t,
    union: cython.bint,
    rate: cython.double,
    b2: cython.double,
    scale: cython.double,
    fewest: cython.double,
    nodes: cython.double[:, ::1],
    out: cython.double[::1],
) -> None:
    """Expected F, or for `union` Jaccard, after adding each of these items to `done` items."""
    with cython.nogil:
        if union:
            _walk_union(p, done, nodes, nodes.shape[1], out)
        else:
            _walk_f(p, done, rate, b2, scale, fewest, nodes, nodes.shape[1], out)


# ---- many batches

# The items of a batch are the `sizes` numbers of `rising` before its end, scaled up by its lift.


def chances_of_none(
    rising: cython.const[cython.double][::1],
    ends: cython.const[cython.longlong][:],
    sizes: cython.const[cython.longlong][:],
    node: cython.double[:, ::1],
    out: cython.double[::1],
) -> None:
    """Compute the probability that no item of each batch is true; `node` is scratch space."""
    with cython.nogil:
        node[2, 0], node[3, 0] = 0.0, 1.0  # then the product is the chance of none
        for batch in range(sizes.shape[0]):
            end = ends[batch]
            if sizes[batch] > 0 and rising[end - 1] == 1.0:
                out[batch] = 0.0
                continue
            node[5, 0] = node[6, 0] = 0.0
            _add_log_none(rising[end - sizes[batch] : end][::-1], 1.0, node, 1)
            out[batch] = exp(node[5, 0])


def fill_long(
    rising: cython.const[cython.double][::1],
    ends: cython.const[cython.longlong][:],
    sizes: cython.const[cython.longlong][:],
    lifts: cython.const[cython.double][:],
    first: cython.const[cython.longlong][:],
    last: cython.const[cython.longlong][:],
    starts: cython.const[cython.longlong][:],
    chosen: cython.const[cython.longlong][:],
    union: cython.bint,
    rate: cython.double,
    b2: cython.double,
    scale: cython.double,
    unit: cython.const[cython.double][:, ::1],
    used: cython.const[cython.longlong][:],
    hi: cython.const[cython.double][:],
    fewest: cython.const[cython.double][:],
    p: cython.double[::1],
    nodes: cython.double[:, ::1],
    out: cython.double[::1],
) -> None:
    """Compute the expected metric of the counts `first` to `last` of the chosen batches.

    Their values are written to `out` from the start of each batch on. The c-th chosen batch takes
    the first `used[c]` nodes of `unit`, with ``1/hi[c]`` for the unit of time; at least `fewest[c]`
    of its items are true. `p` and `nodes` are scratch space.
    """
    size: cython.Py_ssize_t
    j: cython.Py_ssize_t
    falling: cython.const[cython.double][:]
    added: cython.const[cython.double][:]
    values: cython.double[::1]
    with cython.nogil:
        for c in range(chosen.shape[0]):
            batch = chosen[c]
            done, end, n_items = first[batch] - 1, last[batch], sizes[batch]
            if lifts[batch] == 1.0 and end <= n_items:
                falling = rising[ends[batch] - n_items : ends[batch]][::-1]
            else:
                for i in range(n_items):
                    p[i] = rising[ends[batch] - 1 - i] * lifts[batch]
                for i in range(n_items, end):  # more are asked for than can be true
                    p[i] = 0.0
                falling = p[: max(n_items, end)]
            size = 0
            while size < used[c] or size % _WIDTH:
                j = min(size, used[c] - 1)
                nodes[0, size] = unit[0, j] / hi[c]
                nodes[1, size] = unit[1, j] / hi[c] if size < used[c] else 0.0
                size += 1
            _open(b2, rate, nodes, size)
            added = falling[done:end]
            values = out[starts[batch] : starts[batch + 1]]
            if union:
                _sum_up(falling[:end], done, values)
                _add_log_none(falling[done:], 1.0, nodes, size)
                _walk_union(added, done, nodes, size, values)
            else:
                _add_log_none(falling, 1.0, nodes, size)
                _add_hits(falling[:done], nodes, size)
                _walk_f(added, done, rate, b2, scale, fewest[c], nodes, size, values)
