"""The objective: a metric of the counts, the value it takes for 0/0, and what restricts it."""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from halfmax._core.errors import ArgumentError, in_python, setting
from halfmax._core.types import Array, Floats
from halfmax.metrics.counts import SUM_ROUNDING, beyond_rounding, confusion
from halfmax.metrics.metric import LinearFractional, Metric
from halfmax.metrics.restrictions import UNRESTRICTED, Restrictions

_LATTICE_STEPS = 17
_SLACK = 1e-12


class NotMonotoneError(ArgumentError):
    """The best threshold need not be the score of a positive."""


class Objective:
    """A metric, the value it takes for 0/0, and the restrictions of the choice.

    It takes the counts as the optimisers hold them: true positives and predicted, which change
    with the threshold, then positives and total, which do not. The value outside of a restriction
    is -inf. Floors rise with tp and do not rise with fp, so they keep the objective monotone. A cap
    on predicted rows does not, but a threshold between two positives can still be raised to the
    next one: that predicts fewer rows and loses no hit.
    """

    def __init__(
        self,
        metric: Metric,
        zero_division: float = 0.0,
        restrictions: Restrictions = UNRESTRICTED,
    ) -> None:
        self.metric = metric
        self.zero_division = zero_division
        self.restrictions = restrictions

    def __call__(
        self,
        tp: npt.ArrayLike,
        predicted: npt.ArrayLike,
        positives: npt.ArrayLike,
        total: npt.ArrayLike,
    ) -> Floats:
        counts = confusion(tp, predicted, positives, total)
        values = self.metric(*counts, zero_division=self.zero_division)
        if not self.restrictions:
            return values
        return np.where(self.restrictions.hold(counts, self.zero_division), values, -np.inf)

    @property
    def unrestricted(self) -> "Objective":
        """The metric alone, without what restricts the choice."""
        return Objective(self.metric, self.zero_division)

    @cached_property
    def uncapped(self) -> "Objective":
        """The objective without the cap on predicted rows, which is monotone if the metric is."""
        floors = Restrictions(self.restrictions.floors)
        return Objective(self.metric, self.zero_division, floors)

    def with_share_of(self, total: float) -> "Objective":
        """Return the objective with its cap as a share, so that it holds for parts of the rows."""
        cap = self.restrictions.cap
        shared = None if cap is None else cap.as_share_of(total)
        return Objective(
            self.metric, self.zero_division, Restrictions(self.restrictions.floors, shared)
        )

    def shortfall(self, *counts: npt.ArrayLike) -> Floats:
        """Return minus the amount by which the counts miss the restrictions; 0 if they do not."""
        parts = confusion(*counts)
        missed = [one.missing(parts, self.zero_division) for one in self.restrictions]
        furthest = np.nan_to_num(np.min(missed, axis=0), nan=-np.inf)
        return np.asarray(np.minimum(furthest, 0.0), np.float64)

    def require_monotone(self, positives: Array, total: Array) -> None:
        """Refuse a metric that falls with tp or rises with fp, at these numbers of positives.

        Only the scores of positives are tried as thresholds, which is right only for monotone
        metrics.
        """
        found = self._first_violation(positives, total)
        if found is not None:
            raise NotMonotoneError(
                f"{in_python('metric')} {self.metric.name!r} {found}, so the best threshold need "
                "not be the score of a positive. Every score is tried for one classifier, and for "
                f"{setting('average', 'macro')} with {setting('per_label', True)} and "
                f"{setting('guard', None)}; elsewhere use a metric that rises with tp and falls "
                "with fp, such as 'f1'"
            )

    def is_monotone(self, positives: Array, total: Array) -> bool:
        """Return whether the best thresholds are among the scores of positives."""
        return self._first_violation(positives, total) is None

    def _first_violation(self, positives: Array, total: Array) -> str | None:
        """Return where the metric is not monotone, in words; None if it is.

        A user's function is checked on a lattice of counts: every count of a small problem, and a
        spread of counts of a large one.
        """
        if self.metric.monotone:
            return None
        of_few_to_many = np.argsort(positives, kind="stable")
        whole = positives.dtype.kind != "f"  # otherwise sums of weights, which can be any number
        for label in np.unique(of_few_to_many[[0, len(positives) // 2, -1]]):
            found = self._violation(float(positives[label]), float(total[label]), whole)
            if found is not None:
                return found
        return None

    def _violation(self, positives: float, total: float, whole: bool) -> str | None:
        negatives = float(beyond_rounding(np.asarray(total - positives), np.asarray(total)))
        if isinstance(self.metric, LinearFractional):
            _refuse_pole(self.metric, positives, negatives)
        tp, fp = _spread(positives, whole)[:, None], _spread(negatives, whole)[None, :]
        counts = confusion(tp, tp + fp, positives, total)
        values = self.metric(*counts, zero_division=self.zero_division)
        if np.isinf(values).any():
            raise ArgumentError(
                f"{in_python('metric')} {self.metric.name!r} must be finite or NaN for 0/0; it "
                "returned inf"
            )
        changes = (
            ("falls when a true", np.diff(values, axis=0)),
            ("rises when a false", -np.diff(values, axis=1)),
        )
        for words, gain in changes:
            if (gain < -_SLACK).any():
                i, j = np.argwhere(gain < -_SLACK)[0]
                return (
                    f"{words} positive is added (near tp={tp[i, 0]:g}, fp={fp[0, j]:g} of "
                    f"{positives:g} positives and {total:g} rows)"
                )
        return None


def _refuse_pole(metric: LinearFractional, positives: float, negatives: float) -> None:
    """Refuse a denominator that changes its sign between the counts that can occur.

    It is a linear function of tp and fp, so its values at the four corners decide.
    """
    tp, fp, fn, tn = metric.denominator
    corners = [p * positives + n * negatives for p in (tp, fn) for n in (fp, tn)]
    size = max(map(abs, metric.denominator)) * (positives + negatives)
    if min(corners) < -SUM_ROUNDING * size and max(corners) > SUM_ROUNDING * size:
        raise ArgumentError(
            f"{in_python('metric')} {metric.name!r} must have a denominator of one sign; with "
            f"{positives:g} positives and {negatives:g} negatives it lies between "
            f"{min(corners):g} and {max(corners):g}, so the ratio has a pole and no best threshold"
        )


def _spread(size: float, whole: bool) -> Floats:
    """Return 0 to `size`: all whole numbers if they are few, else some, dense at both ends."""
    if whole and size <= 4 * _LATTICE_STEPS:
        return np.arange(size + 1)
    ends = np.geomspace(1.0, size + 1.0, _LATTICE_STEPS) - 1.0
    return np.unique(np.concatenate([ends, size - ends]))
