"""The metrics that have names, and where those names are looked up.

All of them are monotone: at a fixed number of positives a and of negatives b none falls when a true
positive is added, and none rises when a false positive is added. With c = tp + fp predicted rows of
n = a + b:

- ``youden``, ``balanced_accuracy``, ``specificity``, ``gmean``: tp / a rises, tn / b = 1 - fp / b
  falls with fp, and each is a sum or a product of these two shares;
- ``npv``, tn / (tn + fn): one more hit removes a miss; one more false positive removes a tn from
  numerator and denominator of a ratio that is at most 1;
- ``fowlkes_mallows``: its square is tp^2 / (a c), and adding 1 to tp and c raises tp^2 / c, because
  tp is at most c;
- ``kappa``: 2 (b tp - a fp) / (b c + a (n - c)). Its derivative in tp has the sign of
  fp (b - a) + a b, which is linear in fp and not negative at both ends, 0 and b; that in fp has the
  sign of -(tp (b - a) + a^2), which is linear in tp and not positive at 0 and a;
- ``mcc``: (b tp - a fp) / sqrt(a b c (n - c)). Where it is positive, the derivative of its
  logarithm in tp is b / (b tp - a fp) - (n - 2c) / (2 c (n - c)). For c at least n / 2 no term is
  negative; below, b tp - a fp is at most b c, so the first term is at least 1 / c, and the second
  is at most 1 / (2c). Where it is negative, swap predicted and other rows, which turns its sign;
  swap the classes for the derivative in fp.

Where a metric is 0/0 in the middle of its range it has its limit, so that this holds there too: mcc
is 0 if all rows or none are predicted, fowlkes_mallows is 0 without a hit. ``zero_division``
remains for truth of a single class. ``tests/metrics/test_monotone.py`` tries all small tables.
"""

import re
from collections.abc import Callable
from difflib import get_close_matches

import numpy as np

from halfmax._core.errors import ArgumentError, in_python, setting
from halfmax._core.text import spell_out
from halfmax._core.types import Array
from halfmax.metrics.average import AVERAGES, WEIGHTED
from halfmax.metrics.cost import COST, Cost, read_costs
from halfmax.metrics.metric import CountFunction, FBeta, KnownRatio, LinearFractional, Metric

_NAMED_F = re.compile(r"f(\d+(?:\.\d+)?)", re.ASCII)
_EXACT = 2.0**13  # rows up to which four factors are a whole number below 2**53


class KnownMetric(Metric):
    """A function of the counts that is proved to be monotone.

    `ratio` returns the weights of numerator and denominator for data with so many positives and
    negatives, if the metric is a ratio there.
    """

    monotone = True

    def __init__(
        self,
        name: str,
        function: CountFunction,
        ratio: Callable[[float, float], LinearFractional] | None = None,
    ) -> None:
        super().__init__(name, function)
        self._ratio_at = ratio

    def ratio_at(self, positives: float, negatives: float) -> LinearFractional | None:
        """Return the metric as a ratio of weighted sums, for data with so many of each class."""
        return None if self._ratio_at is None else self._ratio_at(positives, negatives)

    def __repr__(self) -> str:
        return repr(self.name)


def _mcc(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
    # Whole numbers below 2**53 are exact, so equal values stay equal; larger ones might overflow.
    above = tp * tn - fp * fn
    with np.errstate(over="ignore"):
        squared = np.sqrt(above**2 / ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))
    plain = np.abs(above) / (np.sqrt((tp + fp) * (tn + fn)) * np.sqrt((tp + fn) * (tn + fp)))
    value = np.sign(above) * np.where(tp + fp + fn + tn <= _EXACT, squared, plain)
    return _zero_unless_constant(value, tp, fp, fn, tn)


def _fowlkes_mallows(tp: Array, fp: Array, fn: Array, _: Array) -> Array:
    value = np.sqrt(tp * tp / ((tp + fp) * (tp + fn)))
    found: Array = np.where((tp == 0) & (fp + fn > 0), 0.0, value)
    return found


def _zero_unless_constant(value: Array, tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
    """Replace 0/0 by 0, except where truth and predictions are the same single class."""
    constant = (fp + fn == 0) & ((tp == 0) | (tn == 0))
    return np.where(np.isnan(value) & ~constant, 0.0, value)


def _kappa(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
    value: Array = 2.0 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))
    return value


def _kappa_at(a: float, b: float) -> LinearFractional:
    return LinearFractional("kappa", (2 * b, -2 * a, 0, 0), (b, b, a, a))


def _youden(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
    value: Array = (tp * tn - fp * fn) / ((tp + fn) * (fp + tn))
    return value


def _youden_at(a: float, b: float) -> LinearFractional:
    return LinearFractional("youden", (b, -a, 0, 0), (b, 0, b, 0))


def _balanced_accuracy(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
    """Average the recall of the classes that are there, as scikit-learn does."""
    positives, negatives = tp + fn, fp + tn
    both = (tp * negatives + tn * positives) / (2.0 * positives * negatives)
    one = np.where(positives > 0, tp, tn) / (positives + negatives)
    found: Array = np.where((positives > 0) & (negatives > 0), both, one)
    return found


def _balanced_at(a: float, b: float) -> LinearFractional:
    return LinearFractional("balanced_accuracy", (b, 0, 0, a), (b, a, b, a))


def _gmean(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
    value: Array = np.sqrt(tp * tn / ((tp + fn) * (fp + tn)))
    return value


JACCARD = KnownRatio("jaccard", (1, 0, 0, 0), (1, 1, 1, 0))
ACCURACY = KnownRatio("accuracy", (1, 0, 0, 1), (1, 1, 1, 1))
PRECISION = KnownRatio("precision", (1, 0, 0, 0), (1, 1, 0, 0))
RECALL = KnownRatio("recall", (1, 0, 0, 0), (1, 0, 1, 0))
SPECIFICITY = KnownRatio("specificity", (0, 0, 0, 1), (0, 1, 0, 1))
NPV = KnownRatio("npv", (0, 0, 0, 1), (0, 0, 1, 1))
BALANCED_ACCURACY = KnownMetric("balanced_accuracy", _balanced_accuracy, _balanced_at)
YOUDEN = KnownMetric("youden", _youden, _youden_at)
KAPPA = KnownMetric("kappa", _kappa, _kappa_at)
MCC = KnownMetric("mcc", _mcc)
GMEAN = KnownMetric("gmean", _gmean)
FOWLKES_MALLOWS = KnownMetric("fowlkes_mallows", _fowlkes_mallows)

_METRICS: tuple[Metric, ...] = (
    JACCARD,
    ACCURACY,
    PRECISION,
    RECALL,
    MCC,
    BALANCED_ACCURACY,
    YOUDEN,
    KAPPA,
    GMEAN,
    SPECIFICITY,
    NPV,
    FOWLKES_MALLOWS,
)
NAMED = {metric.name: metric for metric in _METRICS}
_ALSO = {  # other common names -> ours
    "acc": "accuracy",
    "iou": "jaccard",
    "informedness": "youden",
    "matthews_corrcoef": "mcc",
    "cohen_kappa": "kappa",
    "sensitivity": "recall",
    "tpr": "recall",
    "ppv": "precision",
    "tnr": "specificity",
}
_WITHOUT_THRESHOLD = {"auc", "roc_auc", "auroc", "pr_auc", "average_precision", "log_loss", "brier"}


def find_metric(metric: str | Metric, offered: list[str] | None = None) -> Metric:
    """Return the metric of that name; a `Metric` is returned as it is.

    `offered` are the names that a function can serve, for its errors; by default all of them.
    """
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        if metric in NAMED:
            return NAMED[metric]
        if match := _NAMED_F.fullmatch(metric):
            return FBeta(float(match[1]))
        if match := COST.fullmatch(metric):
            return Cost(read_costs(match[1], "metric"))
    own = in_python(", or a Metric object such as cost(fp=1, fn=10)") if offered is None else ""
    offered = list(NAMED) if offered is None else offered
    raise ArgumentError(
        f"{in_python('metric')} must be 'f1' or any 'f<beta>' such as 'f0.5' or 'f2', "
        f"{spell_out(offered, 'or', len(offered))}{own}; got {_got(metric)}{_hint(metric, offered)}"
    )


def _got(metric: object) -> str:
    if hasattr(metric, "__len__") and not isinstance(metric, str):
        return f"{type(metric).__name__} of {len(metric)}"  # an array would be long
    return repr(metric)


def _hint(metric: object, offered: list[str]) -> str:
    """Return what a value that is not a metric may have been meant to be."""
    if isinstance(metric, dict):
        return in_python("; prices of errors are hm.cost(**prices)")
    if isinstance(metric, str):
        return _hint_of_name(metric, offered)
    if hasattr(metric, "__len__"):
        return "; decide and expected_curve take no labels; tune and score do"
    if callable(metric):
        return "; wrap your function: halfmax.Metric('its name', function of tp, fp, fn, tn)"
    if isinstance(metric, (int, float)):
        return f"; F-beta with beta = {metric:g} is 'f{metric:g}'"
    return ""


def _hint_of_name(metric: str, offered: list[str]) -> str:
    """Return the name, or the average, that a name may have been meant to be."""
    averages = (*AVERAGES, WEIGHTED, "instance")
    if metric in averages:
        return f"; that is an average: {setting('average', metric)}"
    name, _, average = metric.rpartition("_")
    if average in averages and (name in offered or _NAMED_F.fullmatch(name)):
        return f"; use {setting('metric', name)} and {setting('average', average)}"
    plain = metric.strip().lower().replace(" ", "_").replace("-", "_")
    if plain in _WITHOUT_THRESHOLD:
        return "; that one does not depend on a threshold"
    plain = plain.removesuffix("_score")
    if plain in offered or _NAMED_F.fullmatch(plain):
        return f"; use {setting('metric', plain)}"
    known = {name.replace("_", ""): name for name in NAMED} | _ALSO
    meant = known.get(plain, known.get(plain.replace("_", "")))
    if meant in offered:
        return f"; use {setting('metric', meant)}"
    near = get_close_matches(plain, offered, 1)
    return f": did you mean {near[0]!r}?" if near else ""
