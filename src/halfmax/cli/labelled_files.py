"""Files of labelled scores on the command line: a long table, or wide files with their truth."""

from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from halfmax.cli import options as o

if TYPE_CHECKING:
    from halfmax.cli.wide import Wide

_OF_LONG = ("label", "score", "truth", "binary", "n_instances", "check_duplicates")


class LabelledFiles(NamedTuple):
    """Files of labelled scores, long or (with a truth file) wide, and the names of columns."""

    context: typer.Context
    sources: list[str]
    label: str
    score: str
    truth: str
    instance: str | None
    truth_file: str | None
    binary: bool
    check_duplicates: bool | None
    weight: str | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a long table, as keyword arguments of the library."""
        optional = {"instance": self.instance, "weight": self.weight}
        return {
            "label": None if self.binary else self.label,
            "score": self.score,
            "truth": self.truth,
            "check_duplicates": self.check_duplicates,
            **{role: name for role, name in optional.items() if name is not None},
        }

    @property
    def is_wide(self) -> bool:
        return self.truth_file is not None

    def paths(self) -> list[str]:
        """Return the files to read, the truth of wide files last; refuse options of long tables."""
        if self.truth_file is None:
            return self.sources
        why = "is for long tables, and with --truth-file it is wide"
        o.refuse_options(self.context, _OF_LONG, why)
        if len(self.sources) > 1:
            raise ValueError(f"--truth-file takes one file of scores; got {len(self.sources):,}")
        return [*self.sources, self.truth_file]


def read_wide_pair(files: LabelledFiles, paths: list[str]) -> tuple["Wide", "Wide"]:
    """Read the truth of wide files, with its rows in the order of the scores, and the scores."""
    from halfmax.cli.wide import in_order_of, read_wide

    score_path, truth_path = paths
    scores = read_wide(score_path, files.instance)
    return in_order_of(scores, read_wide(truth_path, files.instance, files.weight)), scores


def open_long(files: LabelledFiles, paths: list[str]) -> Any:
    """Open a long table whose rows can be gathered into the rows of a matrix."""
    from halfmax.tables.open import check_whole_rows, open_labelled

    opened = open_labelled(paths, **{"instance": "instance", "weight": None, **files.columns})
    check_whole_rows(opened)
    return opened
