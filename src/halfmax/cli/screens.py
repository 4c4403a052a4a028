"""Summaries that fit into a terminal."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TextIO

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from halfmax.cli.running import respelled
from halfmax.diagnosis import FINDINGS
from halfmax.table import Table

if TYPE_CHECKING:
    from halfmax.assessment import Assessment
    from halfmax.decision import Decision
    from halfmax.diagnosis import Diagnosis
    from halfmax.thresholds import Thresholds

_SHOWN = 10  # labels; the file and --json have all of them
_LONGEST_NAME = 40
_FEWEST_COLUMNS = 72  # of the screen; numbers are not cut for a narrower one

Parts = list[str | Grid]


def show(parts: Parts, sink: TextIO) -> None:
    """Print lines and tables; names are text, whatever they look like."""
    console = Console(file=sink, highlight=False)
    console.width = max(console.width, _FEWEST_COLUMNS)
    with console.capture() as captured:
        for part in parts:
            console.print(Text(part) if isinstance(part, str) else part)
    text = "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())
    encoding = sink.encoding or "utf-8"
    sink.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sink.flush()


def tuned(found: "Thresholds") -> Parts:
    """What was reached, who is never predicted, and the most frequent labels."""
    what = "one classifier" if found.average == "binary" else _labels(len(found.thresholds))
    parts: Parts = [f"Tuned {what}: {_goal(found)} = {found.score:.4f} on these rows"]
    never = found.thresholds == np.inf
    if never.any():
        empty = int((never & (found.support == 0)).sum())
        but = f", {empty:,} of them without positives" if empty else ""
        parts.append(f"Never predicted: {_labels(int(never.sum()))}{but}")
    return [*parts, *_head(found._plain_table(), "Most frequent", -found.support)]


def assessed(found: "Assessment") -> Parts:
    """What to expect, and the labels that lose most of their score."""
    low, high = found.score_interval
    lost = found.label_scores - found.label_expected_scores
    return [
        f"{_goal(found.thresholds)} = {found.score:.4f} on these rows, "
        f"{found.expected_score:.4f} expected on new ones",
        f"{100 * found.level:g} % interval: {low:.4f} to {high:.4f}",
        *_head(found._plain_table(), "Largest losses", -np.nan_to_num(lost)),
    ]


def diagnosed(found: "Diagnosis") -> Parts:
    """How often each finding is made, and the most harmful labels."""
    sick = sum(1 for names in found.findings if names)
    counts = Grid(box=None, pad_edge=False, show_header=False)
    counts.add_column(justify="right")
    for name, count in found.counts.items():
        if count:
            counts.add_row(f"{count:,}", Text(f"{name}: {respelled(FINDINGS[name])}"))
    parts: Parts = [f"Findings for {sick:,} of {_labels(len(found.labels))}, {found.n_rows:,} rows"]
    if not found.probabilities:
        parts.append("Scores are not probabilities (0 to 1), so calibration is not judged.")
    parts += ["", counts] if sick else []
    kept = ("label", "support", "predicted", "score", "expected", "findings")
    table = Table({name: column for name, column in found._narrow_table().items() if name in kept})
    table["predicted"] = [f"{100 * share:.3g} %" for share in table["predicted"]]
    return [*parts, *_head(table, "Most harmful", np.arange(table.n_rows), len(found.labels))]


def applied(made: Any) -> Parts:
    """How many were predicted."""
    rows = "1 row" if made.rows == 1 else f"{made.rows:,} rows"
    return [f"{made.predicted:,} predicted in {rows}"]


def decided(made: Any) -> Parts:
    """What is expected, and how many were predicted."""
    found: Decision = made.decision
    return [f"Expected {_goal(found)} = {found.expected_score:.4f}", *applied(made)]


SUMMARIES: dict[str, Callable[[Any], Parts]] = {
    "tune": tuned,
    "apply": applied,
    "assess": assessed,
    "diagnose": diagnosed,
    "decide": decided,
}


def _goal(found: Any) -> str:
    return found.metric if found.average == "binary" else f"{found.average} {found.metric}"


def _labels(count: int) -> str:
    return "1 label" if count == 1 else f"{count:,} labels"


def _head(table: Table, which: str, order: npt.NDArray[Any], size: int | None = None) -> Parts:
    """The first labels in an order, as a table under a line that says which they are."""
    size = table.n_rows if size is None else size
    first = np.argsort(order, kind="stable")[:_SHOWN].tolist()
    some = Table({name: [column[i] for i in first] for name, column in table.items()})
    title = [] if size <= _SHOWN else [f"{which}, {_SHOWN} of {size:,} labels:"]
    return ["", *title, _grid(some)]


def _grid(table: Table) -> Grid:
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for name in table:
        words = name in ("label", "findings")
        width = {"label": 8, "findings": 15}.get(name)
        justify: Literal["left", "right"] = "left" if words else "right"
        grid.add_column(name, justify=justify, no_wrap=not words, min_width=width, overflow="fold")
    for name, *cells in table._shown():
        label = Text(name)
        label.truncate(_LONGEST_NAME, overflow="ellipsis")
        grid.add_row(label, *map(Text, cells))
    return grid
