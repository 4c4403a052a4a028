"""Metrics as functions of the four counts, and the properties that the optimisers use."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from halfmax._core.errors import ArgumentError, ArgumentTypeError, in_python
from halfmax._core.types import Array, Floats
from halfmax.metrics import half_max
from halfmax.metrics.counts import SUM_ROUNDING
from halfmax.metrics.half_max import Coefficients

CountFunction = Callable[[Array, Array, Array, Array], Array]

_LARGEST_BETA = 1e100  # beta squared, times a count, must stay finite
_LARGEST_DIVISOR = 10**6  # for beta squared as a fraction; enough for betas with three decimals


def _weighted(coefficients: Coefficients, *counts: Array) -> Array:
    total = np.zeros_like(counts[0])
    for coefficient, count in zip(coefficients, counts, strict=True):
        if coefficient != 0.0:
            total += coefficient * count
    if min(coefficients) < 0.0 < max(coefficients):  # terms that cancel leave a rounding error
        tp, fp, fn, tn = map(abs, coefficients)
        size = _weighted((tp, fp, fn, tn), *counts)
        total = np.where(np.abs(total) > SUM_ROUNDING * size, total, 0.0)
    return total


def _coefficients(name: str, values: Coefficients) -> Coefficients:
    try:
        got = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        got = ()
    if len(got) != 4 or not all(math.isfinite(value) for value in got):
        raise ArgumentError(
            f"{in_python(name)} must be four finite weights, of tp, fp, fn, tn; got {values!r}"
        )
    return got


class Metric:
    """A metric defined by a function of the counts: arrays in, an array out.

    Where the function is 0/0 it must return NaN, which ``zero_division`` replaces. The optimisers
    are fastest for metrics that never fall when a true positive is added and never rise when a
    false positive is added; they check yours on a lattice of counts first. For other metrics they
    try every score as a threshold, for one classifier and for the mean over labels, and refuse
    the other averages.

    Parameters
    ----------
    name : str
        The name that results and messages show.
    function : callable
        ``function(tp, fp, fn, tn)``, which gets four float arrays of one shape and returns one of
        that shape.

    See Also
    --------
    LinearFractional : A ratio of weighted sums of the counts.
    FBeta : The F-measure.
    tune : Find the thresholds that maximise a metric.

    Examples
    --------
    >>> markedness = Metric("markedness", lambda tp, fp, fn, tn:
    ...                     tp / (tp + fp) + tn / (tn + fn) - 1)
    >>> float(markedness(tp=6, fp=2, fn=1, tn=3))
    0.5
    """

    #: True only if monotonicity is proved, so that no check is needed.
    monotone = False

    #: True if, at a fixed denominator without tn, the metric is proportional to the hits, as for
    #: F-beta and Jaccard.
    is_share_of_hits: bool = False

    #: True if the metric is minus a cost, which tables and pages show as it is.
    is_cost = False

    def __init__(self, name: str, function: CountFunction) -> None:
        if not isinstance(name, str) or not name:
            raise ArgumentTypeError(f"{in_python('name')} must be a non-empty string; got {name!r}")
        if not callable(function):
            raise ArgumentTypeError(
                f"{in_python('function')} must be callable with tp, fp, fn, tn; got {function!r}"
            )
        self.name = name
        self._function = function

    def __call__(
        self,
        tp: npt.ArrayLike,
        fp: npt.ArrayLike,
        fn: npt.ArrayLike,
        tn: npt.ArrayLike,
        zero_division: float = 0.0,
    ) -> Floats:
        """Compute the metric at each entry of the counts."""
        counts = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (tp, fp, fn, tn)))
        with np.errstate(divide="ignore", invalid="ignore"):
            try:
                values = np.asarray(self._function(*counts), np.float64)
            except Exception as error:
                error.add_note(f"in metric {self.name!r}, which gets arrays of tp, fp, fn, tn")
                raise
        if values.shape != counts[0].shape:
            raise ArgumentError(
                f"{in_python('metric')} {self.name!r} must return one value for each count, shape "
                f"{counts[0].shape}; it returned shape {values.shape}: use array arithmetic"
            )
        return np.where(np.isnan(values), zero_division, values)

    def ratio_at(self, positives: float, negatives: float) -> "LinearFractional | None":
        """Return the metric as a ratio of weighted sums, for data with so many of each class.

        Parameters
        ----------
        positives : float
            The number of positives, or their share.
        negatives : float
            The number of negatives, or their share.

        Returns
        -------
        LinearFractional or None
            A ratio with the same values wherever it is not 0/0; None if there is none.
        """
        return None

    def plug_in(self, score: Array, base_rate: Array | None = None) -> Array:
        """Return the best threshold of calibrated probabilities; NaN if no formula gives it.

        Parameters
        ----------
        score : ndarray
            The best value of the metric.
        base_rate : ndarray, optional
            The share of positives, on which some metrics depend.

        Returns
        -------
        ndarray
            The threshold for each score.
        """
        score = np.asarray(score, np.float64)
        if base_rate is None or self.ratio_at(0.5, 0.5) is None:
            return np.full(score.shape, np.nan)
        rates = np.broadcast_to(base_rate, score.shape)
        found = [self._plug_in_at(*pair) for pair in zip(score.flat, rates.flat, strict=True)]
        return np.array(found, np.float64).reshape(score.shape)

    def _plug_in_at(self, score: float, base_rate: float) -> float:
        ratio = self.ratio_at(base_rate, 1.0 - base_rate) if 0.0 < base_rate < 1.0 else None
        return np.nan if ratio is None else float(ratio.plug_in(np.asarray(score)))

    def __repr__(self) -> str:
        return f"Metric({self.name!r})"


class LinearFractional(Metric):
    """A metric that is a ratio of two weighted sums of the counts.

    Pooled counts give such a ratio again, which is why micro averages with one threshold per label
    can be maximised exactly for these metrics and for no others.

    Parameters
    ----------
    name : str
        The name that results and messages show.
    numerator : tuple of float
        The weights of tp, fp, fn and tn in the numerator.
    denominator : tuple of float
        The weights of tp, fp, fn and tn in the denominator.

    See Also
    --------
    Metric : Any function of the counts.
    FBeta : The F-measure.

    Examples
    --------
    >>> critical_success = LinearFractional("csi", (1, 0, 0, 0), (1, 1, 1, 0))
    >>> float(critical_success(tp=6, fp=3, fn=1, tn=0))
    0.6
    """

    def __init__(self, name: str, numerator: Coefficients, denominator: Coefficients) -> None:
        super().__init__(name, self._ratio)
        self.numerator = _coefficients("numerator", numerator)
        self.denominator = _coefficients("denominator", denominator)

    def _ratio(self, tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
        return np.divide(*self.sums(tp, fp, fn, tn))

    def sums(self, tp: Array, fp: Array, fn: Array, tn: Array) -> tuple[Array, Array]:
        """Compute the numerator and the denominator.

        Parameters
        ----------
        tp : ndarray
            True positives.
        fp : ndarray
            False positives.
        fn : ndarray
            False negatives.
        tn : ndarray
            True negatives.

        Returns
        -------
        tuple of ndarray
            The numerator and the denominator at each entry of the counts.
        """
        numerator, denominator = (_weighted(part, tp, fp, fn, tn) for part in self.parts)
        return numerator, denominator

    @property
    def parts(self) -> tuple[Coefficients, Coefficients]:
        """The weights of the numerator and of the denominator."""
        return self.numerator, self.denominator

    def negated(self) -> "LinearFractional":
        """Negate both sums, which leaves the ratio unchanged.

        Returns
        -------
        LinearFractional
            The metric with weights of opposite sign.
        """
        (tp, fp, fn, tn), (tp_, fp_, fn_, tn_) = self.parts
        return LinearFractional(self.name, (-tp, -fp, -fn, -tn), (-tp_, -fp_, -fn_, -tn_))

    @property
    def cut(self) -> Coefficients:
        """(a, b, c, d) of the plug-in threshold ``(a + b * score) / (c + d * score)``."""
        return half_max.cut_of(*self.parts)

    def ratio_at(self, positives: float, negatives: float) -> "LinearFractional":
        """Return the metric itself, which is the same ratio for all data.

        Parameters
        ----------
        positives : float
            The number of positives.
        negatives : float
            The number of negatives.

        Returns
        -------
        LinearFractional
            The metric itself.
        """
        return self

    def plug_in(self, score: Array, base_rate: Array | None = None) -> Array:
        """Return the best threshold of calibrated probabilities: half the score for F1.

        Parameters
        ----------
        score : ndarray
            The best value of the metric.
        base_rate : ndarray, optional
            The share of positives, on which these metrics do not depend.

        Returns
        -------
        ndarray
            The threshold for each score.
        """
        return half_max.threshold_at(self.cut, score)

    @property
    def is_share_of_hits(self) -> bool:  # type: ignore[override]
        """Whether, at a fixed denominator without tn, the metric is proportional to the hits."""
        (_, *others), (per_hit, _, _, per_rest) = self.parts
        return not any(others) and per_hit > 0 and per_rest == 0


class KnownRatio(LinearFractional):
    """A ratio that is proved to be monotone."""

    monotone = True


class FBeta(KnownRatio):
    """F-beta, ``(1+b2) tp / ((1+b2) tp + fp + b2 fn)`` with ``b2 = beta**2``.

    Parameters
    ----------
    beta : float
        The weight of recall: 1 is F1, a larger beta gives recall more weight than precision.

    See Also
    --------
    LinearFractional : Any ratio of weighted sums of the counts.
    Metric : Any function of the counts.

    Examples
    --------
    >>> FBeta(2).name, float(FBeta(2)(tp=1, fp=1, fn=1, tn=0))
    ('f2', 0.5)
    """

    def __init__(self, beta: float) -> None:
        try:
            beta = float(beta)
        except (TypeError, ValueError):
            raise ArgumentTypeError(f"{in_python('beta')} must be a number; got {beta!r}") from None
        if not 0.0 < beta <= _LARGEST_BETA:
            raise ArgumentError(
                f"{in_python('beta')} must be above 0 and at most {_LARGEST_BETA:g}; got {beta!r}. "
                "Its limits are the metrics 'precision' (beta to 0) and 'recall' (beta to infinity)"
            )
        missed, unit = _whole_weights(beta * beta)
        name = f"f{np.format_float_positional(beta, trim='-')}"
        hit = unit + missed
        super().__init__(name, (hit, 0.0, 0.0, 0.0), (hit, unit, missed, 0.0))
        self.beta = beta

    def __repr__(self) -> str:
        return f"FBeta({self.beta!r})"


def _whole_weights(b2: float) -> tuple[float, float]:
    """Return beta squared as a ratio of two floats, whole numbers if it is a simple fraction.

    With whole weights the two sums of whole counts are exact, and division rounds equal ratios to
    the same float, so ties stay ties. Beta 1.1 has the weights 121 and 100; 1.21 is not a float.
    """
    near = Fraction(b2).limit_denominator(_LARGEST_DIVISOR)
    if abs(Fraction(b2) - near) > 4 * Fraction(np.finfo(float).eps) * near:
        return b2, 1.0
    return float(near.numerator), float(near.denominator)
