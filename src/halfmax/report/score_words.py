"""How a page names and writes scores: as they are, or as costs, which are minus the scores."""

import math
from typing import Any, NamedTuple

from halfmax.metrics.average import AVERAGES, WEIGHTED
from halfmax.metrics.words import AVERAGE_WORDS, is_cost, metric_name, shown

_DECIMALS, _MOST = 4, 10


class ScoreWords(NamedTuple):
    """The names of a metric and its averages, and its scores as readers see them."""

    metric: str
    average: str  # of the thresholds; "binary" for one classifier
    decimals: int = _DECIMALS

    def sized_for(self, score: float) -> "ScoreWords":
        """Return words for scores of this size: costs may be of any size, and get four digits."""
        if not (self.is_cost and math.isfinite(score) and score):
            return self
        digits = 3 - math.floor(math.log10(abs(score)))
        return self._replace(decimals=min(max(digits, 0), _MOST))

    @property
    def is_cost(self) -> bool:
        """Whether scores are shown as costs, of which the lowest is the best."""
        return is_cost(self.metric)

    @property
    def name(self) -> str:
        """The name of the metric, such as "F1"."""
        return metric_name(self.metric)

    @property
    def headline(self) -> str:
        """The name of the score that the thresholds are for, such as "macro F1"."""
        return self.name_of(self.average)

    @property
    def averages(self) -> tuple[str, ...]:
        """The averages that the page shows; "weighted" only if the thresholds are for it.

        Each of the others gives the same mean cost, so of costs one of them is enough.
        """
        if self.average == "binary":
            return ()
        if self.is_cost:
            return ("macro", WEIGHTED) if self.average == WEIGHTED else (self.average,)
        return (*AVERAGES, WEIGHTED) if self.average == WEIGHTED else AVERAGES

    def name_of(self, average: str) -> str:
        """Return the name of an average of the metric."""
        if self.is_cost:
            return "weighted cost" if average == WEIGHTED else "mean cost"
        return self.name if average == "binary" else f"{AVERAGE_WORDS[average]} {self.name}"

    def name_of_best(self, average: str) -> str:
        """Return the name of the rule with the best score of this average."""
        if self.is_cost:
            return f"lowest {self.name_of(average)}"
        return f"best for {AVERAGE_WORDS[average]}"

    def value(self, score: Any) -> Any:
        """Return scores, numbers or an array, as the page shows them."""
        return shown(self.metric, score)

    def text(self, score: float) -> str:
        """Return a score as text, or a dash if there is none."""
        return self.written(self.value(score))

    def written(self, value: float) -> str:
        """Return a number that is shown already, or a difference of two, as text."""
        if not math.isfinite(value):
            return "-"
        return f"{round(value, self.decimals) + 0.0:,.{self.decimals}f}"

    def interval(self, ends: tuple[float, float]) -> str:
        """Return an interval as text, from its lower end as shown to its upper."""
        low, high = sorted(self.value(end) for end in ends)
        return f"{self.written(low)} to {self.written(high)}"
