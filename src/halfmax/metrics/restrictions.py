"""What restricts the choice of a threshold: floors of precision and others, and a cap on rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.gate.options import as_number, check_share
from halfmax._core.types import Array
from halfmax.metrics.metric import Metric
from halfmax.metrics.named import PRECISION, RECALL, SPECIFICITY

_SLACK = 1e-12
_PARTS = {"min_precision": PRECISION, "min_recall": RECALL, "min_specificity": SPECIFICITY}
OPTIONS = (*_PARTS, "max_predicted")

Confusion = tuple[Array, Array, Array, Array]  # tp, fp, fn, tn


class Floor(NamedTuple):
    """The lowest value of a metric that is allowed."""

    option: str
    part: Metric
    least: float

    def holds(self, counts: Confusion, zero_division: float) -> Array:
        """Return True where the counts satisfy the floor."""
        reached: Array = self.part(*counts, zero_division=zero_division) >= self.least - _SLACK
        return reached

    def missing(self, counts: Confusion, zero_division: float) -> Array:
        """Return how far the counts are above the floor; below it, this is negative."""
        return self.part(*counts, zero_division=zero_division) - self.least

    def __str__(self) -> str:
        return f"{self.option}={self.least:g}"

    @property
    def words(self) -> str:
        return f"{self.part.name} at least {self.least:g}"

    @property
    def counts_negatives(self) -> bool:
        """Whether it depends on the number of rows that are neither true nor predicted."""
        return self.part is SPECIFICITY


class Cap(NamedTuple):
    """The most rows that may be predicted: a number, or a share below 1."""

    most: float
    option: str = "max_predicted"

    def rows_of(self, total: Array) -> Array:
        """Return the most rows of so many."""
        rows = self.most * total if self.most < 1.0 else np.broadcast_to(self.most, np.shape(total))
        return rows + _SLACK * np.maximum(total, rows)

    def holds(self, counts: Confusion, zero_division: float) -> Array:
        """Return True where no more rows are predicted."""
        return -self.missing(counts, zero_division) <= 0.0

    def missing(self, counts: Confusion, _: float) -> Array:
        """Return how many more rows might be predicted, as a share of all."""
        tp, fp, fn, tn = counts
        total = tp + fp + fn + tn
        more: Array = (self.rows_of(total) - (tp + fp)) / np.maximum(total, 1e-300)
        return more

    @property
    def counts_negatives(self) -> bool:
        """Whether it depends on the number of rows: a share does."""
        return self.most < 1.0

    def as_share_of(self, total: float) -> "Cap":
        """Return the same cap as a share, which holds for parts of the rows too."""
        return self if self.most < 1.0 else Cap(min(self.most / total, 1.0 - _SLACK))

    def __str__(self) -> str:
        return f"{self.option}={self.most:g}"

    @property
    def words(self) -> str:
        share = self.most < 1.0
        return f"at most {self.most:.4g} of the rows" if share else f"at most {self.most:,.0f} rows"


Restriction = Floor | Cap


@dataclass(frozen=True)
class Restrictions:
    """All restrictions of a goal, in the order in which messages name them."""

    floors: tuple[Floor, ...] = ()
    cap: Cap | None = None

    @classmethod
    def ask(
        cls,
        min_precision: float | None = None,
        min_recall: float | None = None,
        min_specificity: float | None = None,
        max_predicted: float | None = None,
    ) -> "Restrictions":
        """Check the options of a public function. A floor of 0 restricts nothing."""
        shares = {
            "min_precision": min_precision,
            "min_recall": min_recall,
            "min_specificity": min_specificity,
        }
        checked = {option: check_share(option, share) for option, share in shares.items()}
        floors = [
            Floor(option, _PARTS[option], share)
            for option, share in checked.items()
            if share and share > _SLACK
        ]
        return cls(tuple(floors), _check_cap(max_predicted))

    def __iter__(self) -> Iterator[Restriction]:
        yield from self.floors
        if self.cap is not None:
            yield self.cap

    def __len__(self) -> int:
        return len(self.floors) + (self.cap is not None)

    def hold(self, counts: Confusion, zero_division: float) -> Array:
        """Return True where the counts satisfy all restrictions."""
        held = np.ones(np.shape(counts[0]), np.bool_)
        for one in self:
            held = held & one.holds(counts, zero_division)
        return held

    @property
    def spelled(self) -> str:
        """The restrictions as Python spells them, for messages."""
        return " and ".join(in_python(str(one)) for one in self)


UNRESTRICTED = Restrictions()


def _check_cap(value: float | None) -> Cap | None:
    """Check a share of rows below 1, or a whole number of rows from 1."""
    if value is None:
        return None
    number = as_number(value)
    if number == 1.0 and isinstance(value, (float, np.floating)):
        raise ArgumentError(
            f"{in_python('max_predicted')} must be 1 for one row, or a share below 1; got "
            f"{value!r}: leave it out if all rows may be predicted"
        )
    if not number > 0.0 or (number >= 1.0 and not number.is_integer()):
        raise ArgumentError(
            f"{in_python('max_predicted')} must be a whole number of rows, or a share of them "
            f"above 0 and below 1; got {value!r}"
        )
    return Cap(number)
