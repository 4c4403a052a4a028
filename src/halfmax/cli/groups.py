"""Groups of options that several commands share, each declared once as a class.

A command takes a group as one parameter; `expanded` shows its fields as options of the command.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any

from halfmax.cli import options as o


@dataclass(frozen=True)
class GoalOptions:
    """What is maximised."""

    average: o.Average = "macro"
    metric: o.Metric = "f1"
    cost: o.Cost = None
    guard: o.Guard = None
    shared: o.Shared = False
    zero_division: o.ZeroDivision = 0.0

    @property
    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of the library."""
        return {
            "metric": metric_or_cost(self.metric, self.cost),
            "average": self.average,
            "guard": self.guard,
            "per_label": not self.shared,
            "zero_division": self.zero_division,
        }


@dataclass(frozen=True)
class FloorOptions:
    """What thresholds must reach at least, and how many rows they may predict."""

    min_precision: o.MinPrecision = None
    min_recall: o.MinRecall = None
    min_specificity: o.MinSpecificity = None
    max_predicted: o.MaxPredicted = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of the library."""
        return asdict(self)


def metric_or_cost(metric: str, cost: str | None) -> Any:
    """Return the metric to maximise: a name, or minus the costs that were typed."""
    if cost is None:
        return metric
    from halfmax.metrics.cost import cost as costs_of
    from halfmax.metrics.cost import read_costs

    return costs_of(**read_costs(cost, "cost"))


@dataclass(frozen=True)
class ColumnOptions:
    """The columns of labelled scores, and where their truth is."""

    label: o.Label = "label"
    score: o.Score = "score"
    truth: o.Truth = "truth"
    positive: o.Positive = None
    instance: o.Instance = None
    binary: o.Binary = False
    check_duplicates: o.Duplicates = None
    truth_file: o.TruthFile = None


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each group among the parameters of a command by the options in it."""
    parameters = inspect.signature(command).parameters
    groups: dict[str, Any] = {
        name: p.annotation for name, p in parameters.items() if is_dataclass(p.annotation)
    }

    @functools.wraps(command)
    def run(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        command(**values)

    keyword = inspect.Parameter.KEYWORD_ONLY
    options = [
        option
        for name, parameter in parameters.items()
        for option in (
            inspect.signature(groups[name]).parameters.values() if name in groups else [parameter]
        )
    ]
    options = [option.replace(kind=keyword) for option in options]
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run
