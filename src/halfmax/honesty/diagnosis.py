"""`Diagnosis`: what is wrong with which label, the most harmful first."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from html import escape
from itertools import chain
from typing import Any

import numpy as np

from halfmax._core.errors import respelled, setting
from halfmax._core.gate.labels import Labels
from halfmax._core.result import Result, Table
from halfmax._core.types import Array
from halfmax.metrics.words import costs_alone, shown, with_costs

# What each finding means, and what to do, marked as in messages (`_core.errors.respelled`).
# `Diagnosis._why` writes the sentences of one label.
FINDINGS = {
    "uninformative": "not shown to beat predicting every row; improve or drop it, or use "
    f"{setting('guard', 'never')}",
    "flooding": "predicted for more than 5 % of rows and more than 10 times its base rate; "
    f"use {setting('guard', 'auto')}",
    "too few positives": "fewer rows than 1/b^2 at base rate b, so luck decides; "
    f"use {setting('guard', 'auto')}",
    "unstable threshold": "its interval's ends differ 3-fold in predicted rows; "
    f"get more data or use {setting('guard', 'auto')}",
    "miscalibrated": "calibrated probabilities would have another threshold; calibrate before you "
    "use decide",
}
_SHORT = {"too few positives": "few", "unstable threshold": "unstable"}  # in a terminal's table
_LONGEST_NAME, _SHOWN = 40, 30


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Result):
    """What is wrong with each label, sorted by how much it hurts.

    Labels that flood come first, by the number of rows that they flood, then the others by how
    much lower they will score on new data.

    Attributes
    ----------
    labels : tuple
        Names, or positions of the columns where there are no names, the most harmful first. All
        arrays are in this order.
    findings : tuple of tuples of str
        For each label, any of ``"uninformative"``, ``"flooding"``, ``"too few positives"``,
        ``"unstable threshold"`` and ``"miscalibrated"``.
    support, base_rate, thresholds, predicted : ndarray
        The positives, their share, the tuned threshold and the rows predicted by it.
    threshold_interval : (ndarray, ndarray)
        The low and high ends of the intervals for the best thresholds.
    scores, expected_scores : ndarray
        The scores on these data, and those to expect on new data.
    everyone : ndarray
        The score of predicting every row as positive: 2b/(1+b) for F1.
    half_max : ndarray
        The threshold that calibrated probabilities would have: half of the score for F1.
    probabilities : bool
        Whether the scores may be probabilities. If not, calibration is not judged.
    n_rows : int
        The number of rows.
    metric : str
        The name of the metric.

    See Also
    --------
    diagnose : The function that returns it.
    LabelHealthDisplay : A picture of it.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmax import diagnose
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random((500, 2)) < [0.3, 0.02]
    >>> d = diagnose(y, rng.normal(size=(500, 2)) + [3, 0] * y, labels=["good", "platypus"])
    >>> d.labels, d.counts["too few positives"]
    (('platypus', 'good'), 1)
    """

    labels: Labels
    findings: tuple[tuple[str, ...], ...]
    support: Array
    base_rate: Array
    thresholds: Array
    threshold_interval: tuple[Array, Array]
    scores: Array
    expected_scores: Array
    everyone: Array
    half_max: Array
    predicted: Array
    probabilities: bool
    n_rows: int
    metric: str
    _frame_library: Any = field(default=None)

    @property
    def counts(self) -> dict[str, int]:
        """How many labels have each finding."""
        found = Counter(chain.from_iterable(self.findings))
        return {name: found[name] for name in FINDINGS}

    def labels_with(self, finding: str) -> list[Hashable]:
        """List the labels that have a finding.

        Parameters
        ----------
        finding : str
            One of the names in `findings`, such as ``"flooding"``.

        Returns
        -------
        list
            The labels, the most harmful first.

        Raises
        ------
        ValueError
            If there is no such finding.
        """
        if finding not in FINDINGS:
            raise ValueError(f"finding must be one of {tuple(FINDINGS)}; got {finding!r}")
        return [
            label
            for label, names in zip(self.labels, self.findings, strict=True)
            if finding in names
        ]

    def explain(self, label: Hashable) -> str:
        """Describe the findings of one label in sentences with its numbers.

        Parameters
        ----------
        label : hashable
            A label of `labels`.

        Returns
        -------
        str
            One line about the label, and one for each finding.

        Raises
        ------
        KeyError
            If there is no such label.
        """
        if label not in self.labels:
            raise KeyError(f"no label {label!r} among {len(self.labels):,}")
        j = self.labels.index(label)
        positives = f"{self.support[j]:,} positive of" if self.support[j] else "no positives in"
        head = (
            f"{label}: {positives} {self.n_rows:,} rows; {self.metric} "
            f"{self._reached(self.scores[j])} here, {self._reached(self.expected_scores[j])} "
            "expected on new data."
        )
        lines = [f"- {name}: {self._why(name, j)}." for name in self.findings[j]]
        return "\n".join([head, *(lines or ["- nothing to report."])])

    def _reached(self, score: float) -> str:
        return f"{shown(self.metric, score):.3f}"

    def _why(self, finding: str, j: int) -> str:
        low, high = (end[j] for end in self.threshold_interval)
        rows = f"predicted for {self.predicted[j]:,} of {self.n_rows:,} rows"
        luck = (
            f"{self._reached(self.scores[j])} is not shown to be more than luck; "
            f"predicting every row gives {self._reached(self.everyone[j])}"
        )
        times = f"{self.predicted[j] / max(self.support[j], 1):,.0f} times its positives"
        some = bool(self.support[j])
        return {
            "uninformative": luck if some else "without positives nothing can show what it knows",
            "flooding": f"{rows}, {times if some else 'though none of them is positive'}",
            "too few positives": f"{self.support[j]:,}; to tell skill from luck takes about "
            f"{np.ceil(np.sqrt(self.n_rows)):,.0f}, the square root of {self.n_rows:,} rows",
            "unstable threshold": f"{self.thresholds[j]:.4g} could as well be anything from "
            f"{low:.4g} to {'predicting no rows' if high == np.inf else f'{high:.4g}'}",
            "miscalibrated": f"calibrated probabilities would have the threshold "
            f"{self.half_max[j]:.4g}; the best one here is {self.thresholds[j]:.4g}, between "
            f"{low:.4g} and {high:.4g}",
        }[finding]

    def table(self) -> Any:
        """Tabulate the labels, the most harmful first.

        Returns
        -------
        data frame or Table
            One row per label, as a frame of the library that the data came in, or as a `Table` of
            plain columns: label, support, base_rate, threshold, low, high, score, expected,
            everyone (the score of predicting every row), predicted (the share of rows), findings.
        """
        return super().table()

    def __repr__(self) -> str:
        more = len(self.labels) - _SHOWN
        rest = f"... and {more:,} more label{'s' * (more > 1)}\n" if more > 0 else ""
        hint = "table() has every column, explain(label) describes one label in sentences"
        return f"{self._summary()}\n{self._narrow_table().without_place()}\n{rest}{hint}"

    def _narrow_table(self) -> Table:
        """The table that fits into a terminal: the first labels, one line each."""
        first = slice(_SHOWN)
        columns = {
            "support": self.support,
            "base_rate": self.base_rate,
            "predicted": self.predicted / self.n_rows,
            "threshold": self.thresholds,
            "score": self.scores,
            "expected": self.expected_scores,
        }
        table = Table({"label": [_clipped(label) for label in self.labels[first]]})
        table.update((name, _three_digits(values[first])) for name, values in columns.items())
        table["findings"] = [
            ", ".join(_SHORT.get(name, name) for name in names) for names in self.findings[first]
        ]
        return costs_alone(with_costs(self.metric, table))

    def _summary(self) -> str:
        found = [
            f"{count:>8,}  {name}: {respelled(FINDINGS[name])}" for name, count in self._found()
        ]
        return "\n".join([self._headline(), *found, *self._caveats()]) + "\n"

    def _summary_html(self) -> str:
        found = "".join(
            f"<li>{count:,} <b>{name}</b>: {escape(respelled(FINDINGS[name]))}</li>"
            for name, count in self._found()
        )
        rest = "".join(f"<p>{escape(line)}</p>" for line in self._caveats())
        return f"<p>{escape(self._headline())}</p>{f'<ul>{found}</ul>' if found else ''}{rest}"

    def _headline(self) -> str:
        size = len(self.labels)
        sick = sum(1 for names in self.findings if names)
        what = "1 label" if size == 1 else f"{size:,} labels"
        rows = "1 row" if self.n_rows == 1 else f"{self.n_rows:,} rows"
        return f"Diagnosis of {what} on {rows}: {sick:,} with findings"

    def _found(self) -> list[tuple[str, int]]:
        return [(name, count) for name, count in self.counts.items() if count]

    def _caveats(self) -> list[str]:
        if self.probabilities:
            return []
        return ["Scores are not probabilities (0 to 1), so calibration is not judged."]

    def _plain_table(self) -> Table:
        table = Table(
            {
                "label": list(self.labels),
                "support": self.support,
                "base_rate": self.base_rate,
                "threshold": self.thresholds,
                "low": self.threshold_interval[0],
                "high": self.threshold_interval[1],
                "score": self.scores,
                "expected": self.expected_scores,
                "everyone": self.everyone,
                "predicted": self.predicted / self.n_rows,
                "findings": [", ".join(names) for names in self.findings],
            }
        )
        return with_costs(self.metric, table)


def _clipped(label: Hashable) -> Hashable:
    """Shorten a long name; the place of a label without a name stays a number."""
    if isinstance(label, int):
        return label
    name = str(label)
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."


def _three_digits(values: Array) -> Array:
    if values.dtype.kind != "f":
        return values
    return np.array([float(f"{value:.3g}") for value in values])
