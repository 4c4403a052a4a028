"""Metrics as functions of the four counts, and what the optimisers ask of them."""

import math
import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from halfmax._core.text import spell_out
from halfmax._core.types import Array, Floats
from halfmax.metrics import half_max
from halfmax.metrics.average import AVERAGES
from halfmax.metrics.counts import SUM_ROUNDING
from halfmax.metrics.half_max import Coefficients

CountFunction = Callable[[Array, Array, Array, Array], Array]

_LARGEST_BETA = 1e100  # beta squared, times a count, must stay finite
_NAMED_F = re.compile(r"f(\d+(?:\.\d+)?)", re.ASCII)
_LARGEST_DIVISOR = 10**6  # of beta squared as a fraction: betas of up to three decimals have one


def _weighted(coefficients: Coefficients, *counts: Array) -> Array:
    total = np.zeros_like(counts[0])
    for coefficient, count in zip(coefficients, counts, strict=True):
        if coefficient != 0.0:
            total += coefficient * count
    if min(coefficients) < 0.0 < max(coefficients):  # what cancels leaves a rounding error
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
        raise ValueError(f"{name} must be four finite weights, of tp, fp, fn, tn; got {values!r}")
    return got


class Metric:
    """A number made of the counts: ``function(tp, fp, fn, tn)``, arrays in, an array out.

    Where the function is 0/0 it returns NaN, and ``zero_division`` takes that place. The
    optimisers serve every metric that never falls when a true positive is added and never rises
    when a false positive is added; they check yours on a lattice of counts before they trust it.

    >>> fowlkes_mallows = Metric("fowlkes-mallows", lambda tp, fp, fn, tn:
    ...                          tp / np.sqrt((tp + fp) * (tp + fn)))
    >>> float(fowlkes_mallows(tp=6, fp=3, fn=0, tn=1).round(4))
    0.8165
    """

    #: True only where monotonicity is known by proof, so that no check is needed.
    monotone = False

    #: True where each hit adds the same to the metric and nothing else does: F-beta, Jaccard.
    is_share_of_hits: bool = False

    def __init__(self, name: str, function: CountFunction) -> None:
        if not isinstance(name, str) or not name:
            raise TypeError(f"name must be a non-empty string; got {name!r}")
        if not callable(function):
            raise TypeError(f"function must be callable with tp, fp, fn, tn; got {function!r}")
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
        """The metric at each entry of the counts."""
        counts = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (tp, fp, fn, tn)))
        with np.errstate(divide="ignore", invalid="ignore"):
            try:
                values = np.asarray(self._function(*counts), np.float64)
            except Exception as error:
                error.add_note(f"in metric {self.name!r}, which is given arrays of tp, fp, fn, tn")
                raise
        if values.shape != counts[0].shape:
            raise ValueError(
                f"metric {self.name!r} must return one value for each count, shape "
                f"{counts[0].shape}; it returned shape {values.shape}: use array arithmetic"
            )
        return np.where(np.isnan(values), zero_division, values)

    def plug_in(self, score: Array) -> Array:
        """The threshold of calibrated probabilities; NaN, since no law gives one for any metric."""
        return np.full(np.shape(score), np.nan)

    def __repr__(self) -> str:
        return f"Metric({self.name!r})"


class LinearFractional(Metric):
    """A ratio of two weighted sums of the counts, each given as weights of (tp, fp, fn, tn).

    Sums of counts over labels stay such ratios, which is why micro averages with one threshold
    per label can be maximised exactly for these metrics and for no others.

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
        """The numerator and the denominator at these counts."""
        numerator, denominator = (_weighted(part, tp, fp, fn, tn) for part in self.parts)
        return numerator, denominator

    @property
    def parts(self) -> tuple[Coefficients, Coefficients]:
        """The weights of the numerator and of the denominator."""
        return self.numerator, self.denominator

    def refuse_pole(self, positives: float, negatives: float) -> None:
        """Refuse a denominator that changes its sign between the counts that can occur.

        It is a plane over tp and fp, so its values at the four corners tell.
        """
        tp, fp, fn, tn = self.denominator
        corners = [p * positives + n * negatives for p in (tp, fn) for n in (fp, tn)]
        size = max(map(abs, self.denominator)) * (positives + negatives)
        if min(corners) < -SUM_ROUNDING * size and max(corners) > SUM_ROUNDING * size:
            raise ValueError(
                f"metric {self.name!r} must have a denominator of one sign; with {positives:g} "
                f"positives and {negatives:g} negatives it lies between {min(corners):g} and "
                f"{max(corners):g}, so the ratio has a pole and no best threshold"
            )

    def negated(self) -> "LinearFractional":
        """The same ratio with both sums negated."""
        (tp, fp, fn, tn), (tp_, fp_, fn_, tn_) = self.parts
        return LinearFractional(self.name, (-tp, -fp, -fn, -tn), (-tp_, -fp_, -fn_, -tn_))

    @property
    def cut(self) -> Coefficients:
        """(a, b, c, d) of the plug-in threshold ``(a + b * score) / (c + d * score)``."""
        return half_max.cut_of(*self.parts)

    def plug_in(self, score: Array) -> Array:
        """The threshold that calibrated probabilities have where this score is the best."""
        return half_max.threshold_at(self.cut, score)

    @property
    def is_share_of_hits(self) -> bool:  # type: ignore[override]
        """Whether each hit adds the same to the metric and nothing else does."""
        (_, *others), (per_hit, _, _, per_rest) = self.parts
        return not any(others) and per_hit > 0 and per_rest == 0


class _KnownRatio(LinearFractional):
    monotone = True


class FBeta(_KnownRatio):
    """F-beta, ``(1+b2) tp / ((1+b2) tp + fp + b2 fn)`` with ``b2 = beta**2``.

    >>> FBeta(2).name, float(FBeta(2)(tp=1, fp=1, fn=1, tn=0))
    ('f2', 0.5)
    """

    def __init__(self, beta: float) -> None:
        try:
            beta = float(beta)
        except (TypeError, ValueError):
            raise TypeError(f"beta must be a number; got {beta!r}") from None
        if not 0.0 < beta <= _LARGEST_BETA:
            raise ValueError(
                f"beta must be above 0 and at most {_LARGEST_BETA:g}; got {beta!r}. "
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
    """Beta squared as a ratio of two floats, whole numbers if it is a simple fraction.

    With whole weights the two sums of whole counts are exact, and division rounds equal ratios to
    the same float: ties are ties. Beta 1.1 has the weights 121 and 100; 1.21 is not a float.
    """
    near = Fraction(b2).limit_denominator(_LARGEST_DIVISOR)
    if abs(Fraction(b2) - near) > 4 * Fraction(np.finfo(float).eps) * near:
        return b2, 1.0
    return float(near.numerator), float(near.denominator)


JACCARD = _KnownRatio("jaccard", (1, 0, 0, 0), (1, 1, 1, 0))
ACCURACY = _KnownRatio("accuracy", (1, 0, 0, 1), (1, 1, 1, 1))
PRECISION = _KnownRatio("precision", (1, 0, 0, 0), (1, 1, 0, 0))
RECALL = _KnownRatio("recall", (1, 0, 0, 0), (1, 0, 1, 0))

_NAMED = {metric.name: metric for metric in (JACCARD, ACCURACY, PRECISION, RECALL)}


def find_metric(metric: str | Metric) -> Metric:
    """The metric of that name, or the metric itself."""
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        if metric in _NAMED:
            return _NAMED[metric]
        if match := _NAMED_F.fullmatch(metric):
            return FBeta(float(match[1]))
    hint = ""
    if callable(metric):
        hint = "; wrap your function: halfmax.Metric('its name', function of tp, fp, fn, tn)"
    elif isinstance(metric, str) and metric != metric.strip().lower():
        hint = "; names are in lower case"
    elif isinstance(metric, (int, float)):
        hint = f"; F-beta with beta = {metric:g} is 'f{metric:g}'"
    elif isinstance(metric, str) and metric in (*AVERAGES, "instance"):
        hint = f"; that is an average: average={metric!r}"
    got = repr(metric)
    if hasattr(metric, "__len__") and not isinstance(metric, str):
        got = f"{type(metric).__name__} of {len(metric)}"
        hint = "; labels go to tune and score: decide and expected_curve take probabilities alone"
    raise ValueError(
        "metric must be 'f1' or any 'f<beta>' such as 'f0.5' or 'f2', "
        f"{spell_out(_NAMED, 'or')}, or a Metric object; got {got}{hint}"
    )
