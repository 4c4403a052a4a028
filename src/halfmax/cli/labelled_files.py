"""Files of labelled scores on the command line: a long table, or wide files with their truth."""

from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from halfmax.cli import options as o
from halfmax.cli.groups import ColumnOptions
from halfmax.cli.run import Run
from halfmax.cli.thresholds_files import refuse_thresholds

if TYPE_CHECKING:
    from halfmax._core.gate.labelled import LabelledScores
    from halfmax.cli.wide import Wide

_OF_LONG = ("label", "score", "truth", "binary", "n_instances", "check_duplicates")
_INSTANCE = "instance"


class LabelledFiles(NamedTuple):
    """Files of labelled scores, long or (with a truth file) wide, and the names of columns."""

    context: typer.Context
    sources: list[str]
    columns: ColumnOptions
    label: str | None  # None for one classifier
    score: str
    truth: str
    weight: str | None = None
    pos_label: Any = None  # the positive class, if it was named

    @classmethod
    def of(
        cls,
        context: typer.Context,
        sources: list[str],
        columns: ColumnOptions,
        weight: str | None = None,
    ) -> "LabelledFiles":
        """Describe files by the options of a command."""
        label = None if columns.binary else columns.label
        return cls(context, sources, columns, label, columns.score, columns.truth, weight)

    def found(self, paths: list[str], run: Run, need_labels: bool = False) -> "LabelledFiles":
        """Return the files with columns that a long table has, found by their values if needed.

        Unless labels are needed, a table without a column of labels is that of one classifier.
        """
        from halfmax.cli.column_finder import Roles, find_columns

        chosen = o.chosen(self.context, "label", "score", "truth")
        chosen |= {"label"} if need_labels else set()
        ids = (self.columns.instance or _INSTANCE, *([self.weight] if self.weight else []))
        roles = Roles(self.label, self.score, self.truth, ids, chosen, self._typed())
        found = find_columns(paths, roles, run)
        truth = found.truth or self.truth
        named = self._replace(label=found.label, score=found.score, truth=truth)
        return named._replace(pos_label=self._positive_in(paths, truth))

    def _typed(self) -> dict[str, str]:
        """Return the names of columns on the command line, by option."""
        names = {
            "truth": self.truth,
            "score": self.score,
            "label": self.label,
            "instance": self.columns.instance,
            "weight": self.weight,
        }
        typed = o.chosen(self.context, *names)
        return {option: name for option, name in names.items() if name and option in typed}

    def _positive_in(self, paths: list[str], truth: str) -> Any:
        """Return the positive class that was typed, in the type of the column of truth."""
        typed = self.columns.positive
        if typed is None:
            return None
        from halfmax.cli.positive import positive_class
        from halfmax.tables.first_rows import first_file, first_rows

        rows = first_rows(first_file(paths))
        if truth not in rows.column_names:
            return typed  # the reader refuses the table
        return positive_class(typed, rows.schema.field(truth).type, truth)

    @property
    def arguments(self) -> dict[str, Any]:
        """The columns of a long table, as keyword arguments of the library."""
        optional = {
            "instance": self.columns.instance,
            "weight": self.weight,
            "pos_label": self.pos_label,
        }
        return {
            "label": self.label,
            "score": self.score,
            "truth": self.truth,
            "check_duplicates": self.columns.check_duplicates,
            **{role: name for role, name in optional.items() if name is not None},
        }

    @property
    def is_wide(self) -> bool:
        return self.columns.truth_file is not None

    def paths(self) -> list[str]:
        """Return the files to read, the truth of wide files last; refuse options of long tables."""
        refuse_thresholds(self.sources)
        truth_file = self.columns.truth_file
        if truth_file is None:
            return self.sources
        why = "is for long tables, and with --truth-file it is wide"
        o.refuse_options(self.context, _OF_LONG, why)
        if len(self.sources) > 1:
            raise ValueError(f"--truth-file takes one file of scores; got {len(self.sources):,}")
        return [*self.sources, truth_file]


def read_wide_pair(files: LabelledFiles, paths: list[str]) -> tuple["Wide", "Wide"]:
    """Read the truth of wide files, with its rows in the order of the scores, and the scores."""
    from halfmax.cli.wide import in_order_of, read_truth, read_wide

    score_path, truth_path = paths
    instance = files.columns.instance
    scores = read_wide(score_path, instance)
    truth = read_truth(truth_path, instance, files.weight, files.columns.positive)
    return in_order_of(scores, truth), scores


def open_long(files: LabelledFiles, paths: list[str]) -> Any:
    """Open a long table whose rows can be gathered into the rows of a matrix."""
    from halfmax.tables.open import check_whole_rows, open_labelled

    columns = {"instance": _INSTANCE, "weight": None, **files.arguments}
    columns.pop("pos_label", None)  # for `read_long`
    opened = open_labelled(paths, **columns)
    check_whole_rows(opened)
    return opened


def read_long(files: LabelledFiles, opened: Any, progress: Any) -> "LabelledScores":
    """Read a table that `open_long` opened as a matrix; its truth may be of any two classes."""
    from halfmax.tables.classes import reading_classes
    from halfmax.tables.open import whole_matrix

    return reading_classes(opened, files.pos_label, lambda table: whole_matrix(table, progress))
