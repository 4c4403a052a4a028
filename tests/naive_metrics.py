"""Slow twins of the metrics that have names: textbook formulas in exact fractions, then a root."""

from fractions import Fraction
from math import nan, sqrt
from typing import Any


def _share(above: Any, below: Any) -> Any:
    return Fraction(above) / Fraction(below) if below else nan


def _mcc(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """The correlation of truth and predictions; 0 if one of them is constant and they differ."""
    above = tp * tn - fp * fn
    below = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    if not below:
        return nan if not fp + fn else Fraction(0)
    return (1 if above > 0 else -1) * sqrt(_share(above**2, below))


def _kappa(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Observed agreement beyond what chance would give, as a share of what is possible."""
    n = tp + fp + fn + tn
    observed = _share(tp + tn, n)
    chance = _share((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn), n * n)
    return _share(observed - chance, 1 - chance)


def _recalls(tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, Any]:
    return _share(tp, tp + fn), _share(tn, tn + fp)


def _balanced_accuracy(*counts: Any) -> Any:
    there = [share for share in _recalls(*counts) if share == share]
    return sum(there) / len(there) if there else nan


def _youden(*counts: Any) -> Any:
    hit, passed = _recalls(*counts)
    return hit + passed - 1


def _gmean(*counts: Any) -> Any:
    product = _recalls(*counts)[0] * _recalls(*counts)[1]
    return sqrt(product) if product == product else nan


def _specificity(*counts: Any) -> Any:
    return _recalls(*counts)[1]


def _npv(_tp: Any, _fp: Any, fn: Any, tn: Any) -> Any:
    return _share(tn, tn + fn)


def _fowlkes_mallows(tp: Any, fp: Any, fn: Any, _tn: Any) -> Any:
    """The geometric mean of precision and recall; 0 without a hit."""
    if not tp:
        return Fraction(0) if fp + fn else nan
    return sqrt(_share(tp, tp + fp) * _share(tp, tp + fn))


FORMULAS = {
    "mcc": _mcc,
    "balanced_accuracy": _balanced_accuracy,
    "youden": _youden,
    "kappa": _kappa,
    "gmean": _gmean,
    "specificity": _specificity,
    "npv": _npv,
    "fowlkes_mallows": _fowlkes_mallows,
}


def minus_cost(costs: dict[str, Any], tp: Any, fp: Any, fn: Any, tn: Any) -> Fraction:
    """Minus the mean cost of a row, in fractions of the decimals that were written."""
    price = {name: Fraction(str(value)) for name, value in costs.items()}
    paid = sum(
        price.get(name, 0) * count
        for name, count in (("tp", tp), ("fp", fp), ("fn", fn), ("tn", tn))
    )
    return -Fraction(paid) / (tp + fp + fn + tn)
