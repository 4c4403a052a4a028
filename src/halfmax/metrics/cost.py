"""Costs: what each of the four outcomes costs, as a metric whose score is minus the mean cost.

Predicting a row of probability p instead of not predicting it saves ``fn - tp`` with probability p
and costs ``fp - tn`` otherwise. So with calibrated probabilities the best threshold is Elkan's
(2001), ``(fp - tn) / ((fp - tn) + (fn - tp))``, which is fp / (fp + fn) if only errors cost.
"""

import math
import re
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from halfmax._core.errors import ArgumentError, ArgumentTypeError, in_python, warn
from halfmax._core.gate.frames import check_same_rows
from halfmax._core.types import Array, Floats
from halfmax.metrics.metric import LinearFractional, Metric

COST = re.compile(r"cost\((.*)\)")
_OUTCOMES = ("tp", "fp", "fn", "tn")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LARGEST = 1e100  # a cost, times a sum of weights, must stay finite
_MOST_DIGITS = 10**6  # costs of up to six decimals are summed as whole numbers
_PER_ROW = "per row"  # in the name of a metric, instead of an array


class Cost(LinearFractional):
    """Minus the mean cost of a row, where each of the four outcomes has one price.

    `cost` makes it. All costs are multiplied by a common denominator if they have one, so that
    sums of them are exact and equally good thresholds stay equal.

    Attributes
    ----------
    costs : dict
        The cost of each outcome: tp, fp, fn and tn.
    """

    is_cost = True

    def __init__(self, costs: dict[str, float]) -> None:
        (tp, fp, fn, tn), unit = _as_whole([-costs[name] for name in _OUTCOMES])
        super().__init__(_name(costs), (tp, fp, fn, tn), (unit, unit, unit, unit))
        self.costs = costs

    @property
    def monotone(self) -> bool:  # type: ignore[override]
        """Whether a hit never costs more than a miss, nor a false alarm less than none."""
        return self.costs["fn"] >= self.costs["tp"] and self.costs["fp"] >= self.costs["tn"]

    def best_score(self, positives: Array, total: Array) -> Array:
        """Return the score of a classifier that knows the truth."""
        of_positive = min(self.costs["tp"], self.costs["fn"])
        of_negative = min(self.costs["fp"], self.costs["tn"])
        paid = of_positive * positives + of_negative * (total - positives)
        best: Array = -paid / total
        return best

    def __repr__(self) -> str:
        return self.name


class CostOfRows(NamedTuple):
    """What each row costs if it is not predicted and if it is, for its true class."""

    passed: Floats
    predicted: Floats

    def of_predictions(self, predictions: Array) -> Floats:
        """Return the cost of each row at these predictions, 0/1."""
        return np.where(predictions == 1, self.predicted, self.passed)


class RowCost(Metric):
    """Minus the mean cost of a row, where every row has its own prices.

    `cost` makes it if one of its arguments is an array. It serves one classifier.

    Attributes
    ----------
    costs : dict
        The cost of each outcome, tp, fp, fn and tn: a number, or an array with one for each row.
    n_rows : int
        The number of rows.
    """

    is_cost = True

    def __init__(self, costs: dict[str, Any], n_rows: int, passed: dict[str, Any]) -> None:
        super().__init__(_name(costs), _refuse_counts)
        self.costs = costs
        self.n_rows = n_rows
        self._passed = passed

    def check_rows(self, **others: Any) -> None:
        """Refuse costs whose index shows that their rows are not those of the other arguments."""
        check_same_rows(**others, **self._passed)

    def for_truth(self, truth: Array) -> CostOfRows:
        """Return what each row costs, now that its class is known."""
        self.require_rows(len(truth))
        tp, fp, fn, tn = (self.costs[name] for name in _OUTCOMES)
        positive = truth == 1
        return CostOfRows(np.where(positive, fn, tn), np.where(positive, tp, fp))

    def require_rows(self, n_rows: int) -> None:
        """Refuse data with another number of rows."""
        if self.n_rows != n_rows:
            raise ArgumentError(
                f"{in_python('metric')} must have a cost for each of the {n_rows:,} rows; "
                f"got {self.n_rows:,}"
            )

    def of_rows(self, rows: Array) -> "RowCost":
        """Return the costs of some of the rows."""
        costs = {
            name: value[rows] if isinstance(value, np.ndarray) else value
            for name, value in self.costs.items()
        }
        return RowCost(costs, len(rows), {})

    def __repr__(self) -> str:
        return self.name


def check_rows_of_costs(metric: Metric, **others: Any) -> None:
    """Refuse costs for each row that belong to other rows than the other arguments."""
    if isinstance(metric, RowCost):
        metric.check_rows(**others)


def minus_mean_cost(metric: RowCost, truth: Any, predictions: Any, weights: Floats | None) -> float:
    """Return the score of predictions where every row has its own costs."""
    refuse_many_labels(isinstance(truth, np.ndarray))
    costs = metric.for_truth(truth).of_predictions(predictions)
    return -float(np.average(costs, weights=weights))


def has_costs_of_rows(name: str) -> bool:
    """Return whether a metric of that name has costs for each row."""
    found = COST.fullmatch(name)
    return found is not None and f"={_PER_ROW}" in found[1]


def refuse_many_labels(one_classifier: bool) -> None:
    """Refuse costs for each row where rows have many labels."""
    if not one_classifier:
        raise ArgumentError(
            f"{in_python('metric')} has costs for each row, which is for one classifier: for many "
            "labels use one number for each outcome, such as cost(fp=1, fn=10)"
        )


def cost(*, fp: Any, fn: Any, tp: Any = 0.0, tn: Any = 0.0) -> Cost | RowCost:
    """Define a metric to minimise: what each outcome costs.

    The score is minus the mean cost of a row, so that higher is better as everywhere; tables and
    pages show the cost itself. A benefit is a negative cost.

    Parameters
    ----------
    fp : float or array-like of shape (rows,)
        The cost of a false positive, a false alarm. One number for each row, such as the amount
        of each transaction, serves one classifier. If amounts differ a lot and probabilities are
        calibrated, the expected loss, probability times amount, is a better score to tune than
        the probability; compare the two.
    fn : float or array-like of shape (rows,)
        The cost of a false negative, a miss.
    tp : float or array-like of shape (rows,), default 0
        The cost of a true positive, such as that of looking at it.
    tn : float or array-like of shape (rows,), default 0
        The cost of a true negative.

    Returns
    -------
    Metric
        A metric for `tune`, `assess`, `score` and the others. Its ``plug_in`` is the threshold
        that calibrated probabilities would have, fp / (fp + fn) if only errors cost.

    Raises
    ------
    ValueError
        If a cost is not finite, or arrays differ in length.
    TypeError
        If a cost is not a number.

    See Also
    --------
    tune : Find the thresholds with the lowest cost.
    LinearFractional : Any ratio of weighted sums of the counts.

    Examples
    --------
    >>> import halfmax as hm
    >>> miss_is_worse = hm.cost(fp=1, fn=10)
    >>> t = hm.tune([0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.35, 0.4, 0.8], metric=miss_is_worse)
    >>> t.threshold, round(-t.score, 4)
    (0.35, 0.1667)
    >>> float(miss_is_worse.plug_in(t.score).round(4))
    0.0909
    """
    passed = {"fp": fp, "fn": fn, "tp": tp, "tn": tn}
    costs = {name: _check(name, value) for name, value in passed.items()}
    sizes = {name: len(value) for name, value in costs.items() if isinstance(value, np.ndarray)}
    _warn_of_signs(costs)
    if not sizes:
        return Cost(costs)
    if len(set(sizes.values())) > 1:
        raise ArgumentError(
            "costs for each row must be of one length; got "
            + ", ".join(f"{size:,} for {in_python(name)}" for name, size in sizes.items())
        )
    return RowCost(costs, next(iter(sizes.values())), {name: passed[name] for name in sizes})


def _warn_of_signs(costs: dict[str, Any]) -> None:
    """Warn of errors that pay, as when losses are written as -80."""
    for wrong, right in (("fn", "tp"), ("fp", "tn")):
        if np.all(np.less(costs[wrong], np.minimum(costs[right], 0.0))):
            prices = [
                "" if isinstance(costs[name], np.ndarray) else f"={_written(costs[name])}"
                for name in (wrong, right)
            ]
            warn(
                f"{wrong}{prices[0]} costs less than {right}{prices[1]}, so errors pay: costs are "
                "positive numbers, and gains negative ones"
            )


def read_costs(text: str, name: str) -> dict[str, float]:
    """Read costs that are written as ``fp=1, fn=10``; `name` is the argument, for errors."""
    found: dict[str, float] = {}
    for part in text.split(","):
        outcome, _, number = (piece.strip() for piece in part.partition("="))
        if outcome not in _OUTCOMES or outcome in found or not _NUMBER.fullmatch(number):
            named = outcome in _OUTCOMES and number.isidentifier()
            hint = ". Costs that differ from row to row are for Python" if named else ""
            break
        found[outcome] = float(number)
    else:
        if "fp" in found and "fn" in found:
            checked = {outcome: _check(outcome, value) for outcome, value in found.items()}
            return dict.fromkeys(_OUTCOMES, 0.0) | checked
        hint = ""
    raise ArgumentError(
        f"{in_python(name)} must name the costs of fp and fn, and of tp and tn if they are not 0, "
        f"each once, such as fp=1,fn=10; got {text!r}{hint}"
    )


def _check(name: str, value: Any) -> Any:
    """Check a cost: a finite number, or an array of them."""
    number = np.ndim(value) == 0
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        costs = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"{in_python(name)} must be a number, or one number for each row; got {value!r:.60}"
        ) from None
    if costs.ndim > 1 or not costs.size:
        raise ArgumentError(
            f"{in_python(name)} must be a number, or one number for each row; got shape "
            f"{costs.shape}"
        )
    wrong = ~(np.abs(costs) <= _LARGEST)
    if wrong.any():
        where = "" if number else f"[{int(np.flatnonzero(wrong)[0])}]"
        raise ArgumentError(
            f"{in_python(name)} must be finite, at most {_LARGEST:g}; {in_python(name)}{where} is "
            f"{costs[wrong].flat[0]}"
        )
    return float(costs) if number else costs


def _name(costs: dict[str, Any]) -> str:
    """Return the name of the metric, from which `find_metric` can make it again."""
    shown = ("fp", "fn", *(name for name in ("tp", "tn") if np.any(costs[name])))
    return f"cost({', '.join(f'{name}={_written(costs[name])}' for name in shown)})"


def _written(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return _PER_ROW
    return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _as_whole(costs: list[float]) -> tuple[list[float], float]:
    """Return costs as whole numbers, and what they were multiplied by, if that is a small number.

    Sums of whole numbers are exact, so that equally good thresholds stay equal.
    """
    near = [Fraction(cost).limit_denominator(_MOST_DIGITS) for cost in costs]
    unit = math.lcm(*(fraction.denominator for fraction in near))
    if unit > _MOST_DIGITS or [float(fraction) for fraction in near] != costs:
        return costs, 1.0
    return [float(fraction * unit) for fraction in near], float(unit)


def _refuse_counts(*_: Array) -> Array:
    raise ArgumentError(
        f"{in_python('metric')} has costs for each row, which counts cannot show: it serves tune, "
        "score and assess of one classifier; use one number for each outcome here"
    )
