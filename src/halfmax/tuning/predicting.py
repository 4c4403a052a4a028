"""Apply thresholds to scores: arrays, sparse matrices and data frames."""

from typing import Any

import numpy as np

from halfmax._core import predict as _apply
from halfmax._core.errors import ArgumentError, in_python, setting
from halfmax._core.gate import frames
from halfmax._core.gate.arrays import Matrix, like_input, open_scores
from halfmax._core.gate.labels import Labels, match_labels
from halfmax._core.text import spell_out
from halfmax._core.types import Floats

UNKNOWN = ("error", "ignore", "never")  # what to do with columns that have no threshold


class Predicting:
    """The rule ``score >= threshold``, for the labels of thresholds."""

    thresholds: Floats
    labels: Labels | None
    average: str

    def predict(self, y_score: Any, unknown: str = "error") -> Any:
        """Predict 0 or 1 for scores.

        Parameters
        ----------
        y_score : array-like, 1-D or rows x labels
            Scores like those that were tuned. Columns of a data frame are matched with the labels
            by name if both have names.
        unknown : {"error", "ignore", "never"}, default "error"
            What to do with columns of a data frame that have no threshold: refuse them, leave them
            out of the predictions, or predict 0 for them.

        Returns
        -------
        array, sparse matrix or frame of int8
            In the container of the scores: an array for an array, a CSR matrix for a sparse matrix,
            and a frame or series of the same library for a frame or series.

        Raises
        ------
        ValueError
            If the scores do not fit the labels.
        """
        if unknown not in UNKNOWN:
            raise ArgumentError(
                f"{in_python('unknown')} must be {spell_out(UNKNOWN, 'or')}; got {unknown!r}"
            )
        y_score = self._with_known_columns(y_score, unknown)
        scores = open_scores(y_score, "y_score")
        if unknown == "ignore" and scores.native is None:
            scores = self._with_known_labels(scores)
        limits = self._thresholds_for(scores, never=unknown == "never")
        predictions = _apply.predict(scores.values, limits)
        return like_input(predictions, scores, y_score)

    def _with_known_columns(self, y_score: Any, unknown: str) -> Any:
        """Return a frame without the columns that have no threshold, or refuse these."""
        columns = None if self.labels is None else frames.columns_of(y_score)
        if columns is None or self.average == "binary" or unknown == "never":
            return y_score
        if unknown == "error":
            self._places_of(columns)
            return y_score
        known = set(self.labels or ())
        return frames.with_columns(y_score, [name for name in columns if name in known])

    def _with_known_labels(self, scores: Matrix) -> Matrix:
        """Leave out named columns without a threshold of what is no frame, such as xarray."""
        if scores.labels is None or self.labels is None or self.average == "binary":
            return scores
        known = set(self.labels)
        kept = [place for place, name in enumerate(scores.labels) if name in known]
        labels = tuple(scores.labels[place] for place in kept)
        return scores._replace(values=scores.values[:, kept], labels=labels)

    def _places_of(self, columns: Labels, more: Labels = ()) -> list[int]:
        """Return the place of each column among the labels and those after them."""
        hint = f". {setting('unknown', 'ignore')} leaves columns without a threshold out"
        known = (*(self.labels or ()), *more)
        return match_labels(known, columns, "the thresholds", "y_score", hint)

    def _thresholds_for(self, scores: Matrix, never: bool = False) -> Floats:
        """Return the thresholds in the order of the columns of these scores.

        With `never`, columns without a threshold have +inf.
        """
        shape, n_labels = scores.values.shape, len(self.thresholds)
        if len(shape) == 1 and n_labels > 1:
            raise ArgumentError(
                f"{in_python('y_score')} must be rows x {n_labels} labels, like the data that were "
                "tuned; "
                "got 1 dimension"
            )
        named = scores.labels is not None and self.labels is not None
        if len(shape) == 2 and named and self.average != "binary":
            columns, known = scores.labels or (), set(self.labels or ())
            extra = tuple(name for name in columns if name not in known) if never else ()
            limits = np.append(self.thresholds, np.full(len(extra), np.inf))
            return limits[self._places_of(columns, extra)]
        if self.average == "binary" and len(shape) == 2 and shape[1] == 2:
            raise ArgumentError(
                f"{in_python('y_score')} must be one score for each row; from a two-column "
                f"predict_proba, pass the positive class, {in_python('y_score')}[:, 1]"
            )
        if len(shape) == 2 and shape[1] != n_labels:
            raise ArgumentError(
                f"{in_python('y_score')} must have {n_labels} columns, one for each threshold; "
                f"got {shape[1]}"
            )
        return self.thresholds
