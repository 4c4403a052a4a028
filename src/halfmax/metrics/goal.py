"""The goal of a tuning: what to maximise, how to average it, and what restricts the choice.

Every option of `tune` and its relatives is checked here. Combinations that have no meaning or
cannot be solved exactly are refused here, in one place.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from halfmax._core.errors import ArgumentError, ArgumentTypeError, in_python, setting
from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.gate.options import check_zero_division
from halfmax.metrics.average import check_average
from halfmax.metrics.cost import RowCost, refuse_many_labels
from halfmax.metrics.metric import Metric
from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective
from halfmax.metrics.restrictions import Restrictions

GUARDS = ("fbr", "smooth", "calibrated", "never", "auto")
_FBR = re.compile(r"fbr:(\d*\.?\d+|\d+\.)", re.ASCII)


class Guard(NamedTuple):
    """The name of a guard, and the F below which ``"fbr"`` lifts a threshold."""

    name: str
    floor: float = 0.1

    def __str__(self) -> str:
        floor = np.format_float_positional(self.floor, trim="-")
        return f"fbr:{floor}" if self.name == "fbr" else self.name


def check_guard(guard: Any) -> Guard | None:
    """Return the guard of that name; ``"fbr:0.2"`` carries its parameter."""
    if guard is None:
        return None
    if isinstance(guard, str):
        if guard in GUARDS:
            return Guard(guard)
        match = _FBR.fullmatch(guard)
        if match and 0.0 <= float(match[1]) <= 1.0:
            return Guard("fbr", float(match[1]))
    raise ArgumentError(
        f"{in_python('guard')} must be {in_python('None, ')}'auto' (recommended), 'calibrated', "
        "'smooth', 'never', 'fbr' or 'fbr:<F from 0 to 1>' such as 'fbr:0.2'; "
        f"got {guard!r:.60}"
    )


@dataclass(frozen=True)
class Goal:
    """What a tuning maximises, and under which restrictions.

    `ask` checks each option by itself; `settle` then refuses combinations that have no meaning for
    one classifier or for many labels.
    """

    objective: Objective  # the metric, the value it takes for 0/0, and what restricts it
    average: str = "macro"
    per_label: bool = True  # a threshold for each label, or one for all
    guard: Guard | None = None
    one_classifier: bool = False

    @classmethod
    def ask(
        cls,
        metric: str | Metric = "f1",
        average: str = "macro",
        per_label: bool = True,
        guard: str | None = None,
        zero_division: float = 0.0,
        **restrictions: float | None,
    ) -> "Goal":
        """Check the options of a public function; `restrictions` are those of `Restrictions`."""
        if not isinstance(per_label, (bool, np.bool_)):
            raise ArgumentTypeError(
                f"{in_python('per_label')} must be True or False; got {per_label!r}"
            )
        checked = check_guard(guard)
        objective = Objective(
            find_metric(metric),
            check_zero_division(zero_division),
            Restrictions.ask(**restrictions),
        )
        return cls(objective, average, bool(per_label), checked)

    def settle(self, one_classifier: bool) -> "Goal":
        """Return the goal for one classifier or for many labels, or refuse it."""
        average = check_average(self.average, one_classifier)
        goal = replace(self, average=average, one_classifier=one_classifier)
        goal._refuse_costs_of_rows()
        goal._refuse_what_no_search_can_find()
        goal._refuse_what_no_guard_can_keep()
        return goal

    @property
    def metric(self) -> Metric:
        return self.objective.metric

    @property
    def labels_apart(self) -> bool:
        """Whether each label is tuned by itself, so that only its own counts matter."""
        return self.one_classifier or (self.over_labels and self.per_label)

    @property
    def over_labels(self) -> bool:
        """Whether the score is a mean over labels."""
        return self.average in ("macro", "weighted")

    @property
    def needs_rows(self) -> bool:
        """Whether the counts of single labels are not enough: the rows must be known, too."""
        if self.guard is not None:
            return True
        by_rows = self.average == "samples" or (self.over_labels and not self.per_label)
        return by_rows and not self.one_classifier

    @property
    def one_threshold(self) -> bool:
        """Whether the result is a single threshold."""
        return self.one_classifier or not self.per_label

    @property
    def average_shown(self) -> str:
        """The average as results name it: 'binary' for one classifier."""
        return "binary" if self.one_classifier else self.average

    @property
    def for_labels_apart(self) -> "Goal":
        """The metric for each label by itself, without restrictions and guard."""
        return Goal(self.objective.unrestricted, one_classifier=self.one_classifier)

    def for_parts_of(self, data: LabelledScores) -> "Goal":
        """Return the goal for parts of these rows: a cap on rows becomes a share of them."""
        return self.with_cap_as_share(data.total, data.n_labels)

    def with_cap_as_share(self, rows: float, n_labels: int) -> "Goal":
        """Return the goal whose cap is a share of that many rows instead of a number of them."""
        cells = rows * (n_labels if self.average == "micro" else 1)
        return replace(self, objective=self.objective.with_share_of(cells))

    def _refuse_costs_of_rows(self) -> None:
        if not isinstance(self.metric, RowCost):
            return
        refuse_many_labels(self.one_classifier)
        if self.guard is not None:
            raise ArgumentError(
                f"{in_python('metric')} has costs for each row, and guards count rows: use "
                f"{setting('guard', None)} with it"
            )

    def _refuse_what_no_search_can_find(self) -> None:
        if self.one_classifier or self.average == "micro":
            return
        leaves_out = np.isnan(self.objective.zero_division)
        if self.labels_apart:
            if leaves_out and np.isnan(self.objective(0, 0, 1, 2)):
                raise ArgumentError(
                    f"{in_python('zero_division=nan')} leaves labels out of the mean, and for "
                    f"{self.metric.name!r} the threshold itself decides which labels are left out, "
                    "so labels cannot be tuned one at a time; use "
                    f"{setting('per_label', False)} or a number from 0 to 1"
                )
            return
        restrictions = self.objective.restrictions
        if restrictions:
            raise ArgumentError(
                f"{restrictions.spelled} must hold for each label ({setting('average', 'macro')} "
                f"with {setting('per_label', True)}) or for pooled counts "
                f"({setting('average', 'micro')}); it has no meaning for "
                f"{setting('average', self.average)} with {setting('per_label', self.per_label)}"
            )
        if self.average == "samples" and self.per_label and leaves_out:
            raise ArgumentError(
                f"{in_python('zero_division=nan')} leaves rows out of the mean, so labels cannot "
                f"be moved one at a time; use {setting('per_label', False)} or a number from 0 to "
                "1"
            )

    def _refuse_what_no_guard_can_keep(self) -> None:
        if self.guard is None:
            return
        restrictions = self.objective.restrictions
        if restrictions:
            raise ArgumentError(
                f"{restrictions.spelled} is guaranteed only on the data you pass, while a guard "
                f"aims at new data: use {setting('guard', None)} with it"
            )
        if self.guard.name == "fbr" and self.metric.is_cost:
            raise ArgumentError(
                f"{setting('guard', 'fbr')} is a rule for metrics from 0 to 1, and "
                f"{self.metric.name} is a cost: use 'auto'"
            )
        if self.one_classifier:
            return
        if not self.per_label:
            raise ArgumentError(
                f"{setting('guard', self.guard.name)} needs {setting('per_label', True)}: "
                "one threshold for all labels has next to nothing to overfit; use "
                f"{setting('guard', None)} with it"
            )
        if self.guard.name == "fbr" and not self.over_labels:
            raise ArgumentError(
                f"{setting('guard', 'fbr')} is a rule for {setting('average', 'macro')}; got "
                f"{setting('average', self.average)}: use 'auto'"
            )
