"""A metric as the kernels of this package see it, and bounds on the number of true items."""

from typing import Any, NamedTuple

import numpy as np

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.text import spell_out
from halfmax.metrics.cost import Cost
from halfmax.metrics.metric import FBeta, LinearFractional, Metric
from halfmax.metrics.named import ACCURACY, JACCARD, PRECISION, RECALL, find_metric

KIND_F, KIND_JACCARD, KIND_RECALL, KIND_PRECISION, KIND_ACCURACY = range(5)
_KINDS = {
    KIND_JACCARD: JACCARD,
    KIND_PRECISION: PRECISION,
    KIND_ACCURACY: ACCURACY,
    KIND_RECALL: RECALL,
}
NAMES = [known.name for known in _KINDS.values()]
_UNLIKELY = 55.0  # exp(-55), times the largest ratio of two reciprocals that can occur, is nothing
# Below TINY expectations are linear in the probabilities. They are computed after scaling up by
# LIFT, out of the subnormal numbers, which have few digits, and scaled down again.
TINY, LIFT = 1e-290, 2.0**500


class Ratio(NamedTuple):
    """The kind of a metric, and ``scale * S / (rate * k + b2 * T)`` if it is an F.

    S of the k predicted items are true, and T of all items. Recall is the F-beta without k. `cut`
    turns a score into its plug-in threshold.
    """

    kind: int
    rate: float
    b2: float
    scale: float
    cut: tuple[float, float, float, float]

    @property
    def is_linear(self) -> bool:
        """Whether it is precision or accuracy, whose expectations need no reciprocal."""
        return self.kind in (KIND_PRECISION, KIND_ACCURACY)


def find_ratio(metric: str | Metric, offered: tuple[Metric, ...] = tuple(_KINDS.values())) -> Ratio:
    """Return the metric as the kernels see it; raise an error if they cannot compute it.

    `offered` are the metrics that the error offers, beside F-beta.
    """
    names = [known.name for known in offered]
    found = find_metric(metric, names)
    if isinstance(found, FBeta):
        b2 = found.beta * found.beta
        return Ratio(KIND_F, 1.0, b2, 1.0 + b2, found.cut)
    if isinstance(found, LinearFractional):
        for kind, known in _KINDS.items():
            if found.parts == known.parts:
                return Ratio(kind, 0.0 if kind == KIND_RECALL else 1.0, 1.0, 1.0, found.cut)
    hint = ""
    if isinstance(found, Cost):
        cut = found.plug_in(np.zeros(1))[0]
        hint = f"; for these costs, predict where the probability is at least {cut:.4g}"
    raise ArgumentError(
        f"{in_python('metric')} must be one whose expectation is known in closed form: any "
        f"'f<beta>' or FBeta, {spell_out(names, 'or')}; got {metric!r}{hint}"
    )


# Bounds on the number of true items, for one expected number of true items or an array of them.


def fewest_true(mean: Any) -> Any:
    """A lower bound on the number of true items; fewer are true with probability below exp(-55).

    Chernoff: at most ``mean - a`` independent items are true with probability at most
    ``exp(-a^2 / (2 mean))``.
    """
    return np.maximum(0.0, mean - np.sqrt(2 * _UNLIKELY * mean))


def most_true(mean: Any, n_items: Any) -> Any:
    """An upper bound on the number of true items; more are true with probability below exp(-55).

    Bernstein: at least ``mean + a`` are true with probability at most
    ``exp(-a^2 / (2 mean + 2 a / 3))``.
    """
    above = _UNLIKELY / 3 + np.sqrt((_UNLIKELY / 3) ** 2 + 2 * _UNLIKELY * mean)
    return np.minimum(np.maximum(n_items, 0), mean + above)


def fewest_given_one(mean: Any) -> Any:
    """A lower bound on the number of true items, given that one particular item is true."""
    return 1.0 + fewest_true(np.maximum(mean - 1.0, 0.0))


def most_given_one(mean: Any, n_items: Any) -> Any:
    """An upper bound on the number of true items, given that one particular item is true."""
    return 1.0 + most_true(mean, n_items - 1)
