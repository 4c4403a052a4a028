"""Thresholds by label: look up, change and join them as with a dictionary, and compare them."""

from collections.abc import Hashable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from halfmax._core.errors import UnknownLabelError, in_python
from halfmax._core.gate.labels import Labels, names_or_places, not_known
from halfmax._core.types import Array, Floats
from halfmax.metrics.metric import Metric

if TYPE_CHECKING:
    from halfmax.tuning.thresholds import Thresholds


class ByLabel:
    """What `Thresholds` has in common with a dictionary of labels and thresholds."""

    thresholds: Floats
    labels: Labels | None
    metric: str
    average: str
    predicted: Array

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        names = names_or_places(self.labels, len(self.thresholds))
        return {name: place for place, name in enumerate(names)}

    def __getitem__(self, label: Hashable) -> float:
        try:
            return float(self.thresholds[self._places[label]])
        except TypeError:
            raise TypeError(
                f"a label must be a single name; got {label!r:.60}: for several labels, use "
                "to_dict() or .thresholds"
            ) from None
        except KeyError:
            end = not_known(label, self.labels, len(self.thresholds))
            raise UnknownLabelError(f"{in_python('label')} must be {end}") from None

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self.thresholds)

    def __contains__(self, label: Hashable) -> bool:
        return label in self._places

    def keys(self) -> KeysView[Hashable]:
        """Return the labels: their names, or their positions if they have no names.

        Returns
        -------
        KeysView
            The labels in the order of the thresholds.
        """
        return self._places.keys()

    def values(self) -> ValuesView[float]:
        """Return the thresholds, as a dictionary does.

        Returns
        -------
        ValuesView
            The threshold of each label, in the order of the labels.
        """
        return self.to_dict().values()

    def items(self) -> ItemsView[Hashable, float]:
        """Return the labels with their thresholds, as a dictionary does.

        Returns
        -------
        ItemsView
            A pair of label and threshold for each label, in the order of the labels.
        """
        return self.to_dict().items()

    def get(self, label: Hashable, default: Any = None) -> Any:
        """Return the threshold of a label, or another value if there is no such label.

        Parameters
        ----------
        label : hashable
            The name of the label, or its position if labels have no names.
        default : object, default None
            What to return for a label that does not exist.

        Returns
        -------
        float
            The threshold of the label, or `default`.
        """
        place = self._places.get(label)
        return default if place is None else float(self.thresholds[place])

    def to_dict(self) -> dict[Hashable, float]:
        """Return the thresholds as a dictionary.

        Returns
        -------
        dict
            The threshold of each label, by name, or by position if labels have no names.
        """
        return dict(zip(self._places, self.thresholds.tolist(), strict=True))

    @classmethod
    def from_dict(
        cls,
        thresholds: Mapping[Any, float],
        metric: str | Metric = "f1",
        average: str = "macro",
        zero_division: float = 0.0,
    ) -> Self:
        """Build thresholds from a dictionary of numbers.

        They predict, save, load and report like tuned ones. Nothing is known about their score,
        precision and recall, which are NaN and shown as unknown. To find out, pass data to
        `report`, or change tuned thresholds with ``tune(y_true, y_score).replace(...)``.

        Parameters
        ----------
        thresholds : dict
            The threshold of each label: a number on the scale of the scores, or ``inf`` to predict
            no rows.
        metric : str or Metric, default "f1"
            The metric that the thresholds are for, as in `tune`.
        average : {"macro", "micro", "samples", "weighted", "binary"}, default "macro"
            How it is averaged over labels, as in `tune`. ``"binary"`` is for one classifier, whose
            only label need not be named in data and tables.
        zero_division : float, default 0.0
            Value of 0/0, as in `tune`.

        Returns
        -------
        Thresholds
            With labels in the order of the dictionary.

        Raises
        ------
        TypeError
            If it is not a dictionary, or a threshold is not a number.
        ValueError
            If the dictionary is empty, a threshold is NaN or ``-inf``, or an option is unknown.
        """
        from halfmax.tuning.by_hand import fields_from_dict

        return cls(**fields_from_dict(thresholds, metric, average, zero_division))

    def replace(self, changes: Mapping[Any, float] | float) -> "Thresholds":
        """Return thresholds with some of them changed by hand.

        What they reach is computed again if the data that were tuned are in memory; otherwise it
        is unknown for the labels that changed, and so is the averaged score. Data of `tune_table`
        are not read again.

        Parameters
        ----------
        changes : dict or float
            New thresholds by label; the others stay. A number is the new threshold of one
            classifier, or the one that all labels share.

        Returns
        -------
        Thresholds
            The changed thresholds. If any threshold is another than before, ``guard`` is None,
            because a guard did not choose all of them, and floors no longer hold. ``shared`` stays
            True only as long as all thresholds are equal.

        Raises
        ------
        TypeError
            If `changes` is not a dictionary, or a threshold is not a number.
        ValueError
            If a label is unknown, or a threshold is NaN or ``-inf``.
        """
        from halfmax.tuning.by_hand import replaced

        return replaced(cast("Thresholds", self), changes)

    def __or__(self, other: Any) -> "Thresholds":
        if not isinstance(other, (ByLabel, Mapping)):
            return NotImplemented
        from halfmax.tuning.by_hand import united

        return united(cast("Thresholds", self), cast("Thresholds | Mapping[Any, float]", other))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ByLabel):
            return NotImplemented
        compared = [part.name for part in fields(self) if part.compare]  # type: ignore[arg-type]
        return all(_are_same(getattr(self, name), getattr(other, name)) for name in compared)

    def __hash__(self) -> int:
        return hash((self.metric, self.average, self.labels, tuple(self.thresholds.tolist())))

    @property
    def _unknown(self) -> Array:
        """The labels of which it is not known what their thresholds reach."""
        unknown: Array = np.isnan(self.predicted)
        return unknown


def _are_same(one: Any, other: Any) -> bool:
    """Return whether two values are equal; NaN equals NaN."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (np.isnan(one) and np.isnan(other))
    return bool(one == other)
