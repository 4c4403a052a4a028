"""Metrics as functions of the four counts, and what the optimisers ask of them."""

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._core.checks import AVERAGES
from halfmax._core.errors import spell_out

Array = npt.NDArray[Any]
CountFunction = Callable[[Array, Array, Array, Array], Array]
Coefficients = tuple[float, float, float, float]

_LARGEST_BETA = 1e100  # beta squared, times a count, must stay finite
_NAMED_F = re.compile(r"f(\d+(?:\.\d+)?)", re.ASCII)
_LATTICE_STEPS = 17
_SLACK = 1e-12
SUM_ROUNDING = 1e-12  # of a sum of weights; less than this share of it is no row
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
    ) -> npt.NDArray[np.float64]:
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
        """(a, b, c, d) of the plug-in threshold ``(a + b * score) / (c + d * score)``.

        Predicting one more item of probability p turns fn into tp or tn into fp. The ratio does not
        fall if what this adds to the numerator is at least `score` times what it adds to the
        denominator, which solved for p is that p is at least the threshold: half of F1.
        """
        (tp, fp, fn, tn), (tp_, fp_, fn_, tn_) = self.parts
        return tn - fp, fp_ - tn_, (tp - fn) - (fp - tn), (fp_ - tn_) - (tp_ - fn_)

    def plug_in(self, score: Array) -> Array:
        """The threshold that calibrated probabilities have where this score is the best."""
        a, b, c, d = self.cut
        with np.errstate(divide="ignore", invalid="ignore"):
            threshold: Array = np.asarray((a + b * score) / (c + d * score))
        return threshold


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


class Objective:
    """What is maximised: a metric, its value of 0/0, and the floors that restrict the choice.

    It reads the counts as the optimisers hold them: true positives and predicted, which change
    with the threshold, then positives and total, which do not. A choice below a floor is worth
    -inf. Precision and recall rise with tp and do not rise with fp, so the whole is monotone if the
    metric is.
    """

    def __init__(
        self,
        metric: Metric,
        zero_division: float = 0.0,
        min_precision: float | None = None,
        min_recall: float | None = None,
    ) -> None:
        self.metric = metric
        self.zero_division = zero_division
        floors = ((PRECISION, min_precision), (RECALL, min_recall))
        # A floor of 0 restricts nothing, not even where precision is 0/0.
        self.floors = [(part, floor) for part, floor in floors if floor and floor > _SLACK]

    def __call__(
        self,
        tp: npt.ArrayLike,
        predicted: npt.ArrayLike,
        positives: npt.ArrayLike,
        total: npt.ArrayLike,
    ) -> npt.NDArray[np.float64]:
        counts = confusion(tp, predicted, positives, total)
        values = self.metric(*counts, zero_division=self.zero_division)
        for part, floor in self.floors:
            reached = part(*counts, zero_division=self.zero_division)
            values = np.where(reached >= floor - _SLACK, values, -np.inf)
        return values

    def spare(self, *counts: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """0 where the same counts keep the floors, else below 0 by as much as they miss them."""
        parts = confusion(*counts)
        missed = [
            part(*parts, zero_division=self.zero_division) - floor for part, floor in self.floors
        ]
        furthest = np.nan_to_num(np.min(missed, axis=0), nan=-np.inf)
        return np.asarray(np.minimum(furthest, 0.0), np.float64)

    def require_monotone(self, positives: Array, total: Array) -> None:
        """Refuse a metric that falls with tp or rises with fp, at these numbers of positives.

        Only the scores of positives are tried as thresholds, which is right for monotone metrics
        alone. A user's function is judged on a lattice of counts that holds every count of a small
        problem and a spread of them of a large one.
        """
        if self.metric.monotone:
            return
        of_few_to_many = np.argsort(positives, kind="stable")
        whole = positives.dtype.kind != "f"  # else sums of weights, which can be anything
        for label in np.unique(of_few_to_many[[0, len(positives) // 2, -1]]):
            self._check_lattice(float(positives[label]), float(total[label]), whole)

    def _check_lattice(self, positives: float, total: float, whole: bool) -> None:
        negatives = float(_beyond_rounding(np.asarray(total - positives), np.asarray(total)))
        if isinstance(self.metric, LinearFractional):
            self.metric.refuse_pole(positives, negatives)
        tp, fp = _spread(positives, whole)[:, None], _spread(negatives, whole)[None, :]
        counts = confusion(tp, tp + fp, positives, total)
        values = self.metric(*counts, zero_division=self.zero_division)
        if np.isinf(values).any():
            raise ValueError(
                f"metric {self.metric.name!r} must be finite or NaN for 0/0; it returned inf"
            )
        changes = (
            ("falls when a true", np.diff(values, axis=0)),
            ("rises when a false", -np.diff(values, axis=1)),
        )
        for words, gain in changes:
            if (gain < -_SLACK).any():
                i, j = np.argwhere(gain < -_SLACK)[0]
                raise ValueError(
                    f"metric {self.metric.name!r} {words} positive is added (near tp={tp[i, 0]:g}, "
                    f"fp={fp[0, j]:g} of {positives:g} positives and {total:g} rows), so the "
                    "scores of positives are not its only possible optima and the answer could be "
                    "wrong; use a metric that rises with tp and falls with fp, such as 'f1'"
                )


def plug_in_threshold(metric: Metric, scores: Array) -> Array:
    """Where calibrated probabilities would have their best threshold; NaN if no law says."""
    if not isinstance(metric, LinearFractional):
        return np.full(np.shape(scores), np.nan)
    return metric.plug_in(scores)


def confusion(
    tp: npt.ArrayLike, predicted: npt.ArrayLike, positives: npt.ArrayLike, total: npt.ArrayLike
) -> tuple[Array, Array, Array, Array]:
    """tp, fp, fn, tn from what was hit, predicted, positive and there.

    Sums of weights miss each other by rounding errors. A difference that small is no row: it must
    not hide that a ratio is 0/0.
    """
    hit, reached, true, every = (
        np.asarray(part, np.float64) for part in (tp, predicted, positives, total)
    )
    false_positives = _beyond_rounding(reached - hit, reached)
    missed = _beyond_rounding(true - hit, true)
    rest = _beyond_rounding(every - hit - false_positives - missed, every)
    return hit, false_positives, missed, rest


def _beyond_rounding(difference: Array, whole: Array) -> Array:
    """The difference, or 0 where it is negative or a rounding error of the whole."""
    return np.where(difference > SUM_ROUNDING * whole, difference, 0.0)


def _spread(size: float, whole: bool) -> npt.NDArray[np.float64]:
    """0 to ``size``: every whole number if these are few, else some that bunch at the ends."""
    if whole and size <= 4 * _LATTICE_STEPS:
        return np.arange(size + 1)
    ends = np.geomspace(1.0, size + 1.0, _LATTICE_STEPS) - 1.0
    return np.unique(np.concatenate([ends, size - ends]))
