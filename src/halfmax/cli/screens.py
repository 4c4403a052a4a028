"""Summaries of results that fit into a terminal."""

from collections.abc import Callable
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, TextIO

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from halfmax._core.errors import respelled
from halfmax._core.result import Table
from halfmax.cli import documents
from halfmax.cli.run import on_one_line
from halfmax.cli.spelling import in_shell
from halfmax.honesty.diagnosis import FINDINGS

if TYPE_CHECKING:
    from halfmax.expected.decision import Decision
    from halfmax.honesty.assessment import Assessment
    from halfmax.honesty.diagnosis import Diagnosis
    from halfmax.mesh.rules.evaluate import Evaluation
    from halfmax.paper.mesh.sheets import Sheet
    from halfmax.paper.mesh.study import Study
    from halfmax.tuning.thresholds import Thresholds

_SHOWN = 10  # labels; the file and --json have all of them
_LONGEST_NAME = 40
_FEWEST_COLUMNS = 72  # of the screen; numbers are not cut for a narrower one
SHEET_COLUMNS = 80  # of the screen, for the tables of the case study
_SHEET_HEAD = 9  # letters of a column's name on a line; numbers may be wider

Parts = list[str | Grid]


def show(parts: Parts, sink: TextIO, fewest_columns: int = _FEWEST_COLUMNS) -> None:
    """Print lines and tables; names are printed literally, without markup."""
    console = Console(file=sink, highlight=False)
    console.width = max(console.width, fewest_columns)
    with console.capture() as captured:
        for part in parts:
            console.print(Text(part) if isinstance(part, str) else part)
    text = "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())
    encoding = sink.encoding or "utf-8"
    sink.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sink.flush()


def tuned(outcome: Any) -> Parts:
    """Show the score, the labels that are never predicted, and the most frequent labels."""
    found: Thresholds = outcome.thresholds
    parts: Parts = [f"Tuned {_whose(found)}: {_goal(found)} = {found.score:.4f} on these rows"]
    never = found.thresholds == np.inf
    if never.any():
        empty = int((never & (found.support == 0)).sum())
        but = f", {empty:,} of them without positives" if empty else ""
        parts.append(f"Never predicted: {_labels(int(never.sum()))}{but}")
    return [*parts, *_head(found._plain_table(), "Most frequent", -found.support)]


def assessed(found: "Assessment") -> Parts:
    """Show the expected score, and the labels that lose most of their score."""
    low, high = found.score_interval
    lost = found.label_scores - found.label_expected_scores
    return [
        f"{_goal(found.thresholds)} = {found.score:.4f} on these rows, "
        f"{found.expected_score:.4f} expected on new ones",
        f"{100 * found.level:g} % interval for endless new rows: {low:.4f} to {high:.4f}",
        *_head(found._plain_table(), "Largest losses", -np.nan_to_num(lost)),
    ]


def diagnosed(found: "Diagnosis") -> Parts:
    """Show the number of labels with each finding, and the most harmful labels."""
    sick = sum(1 for names in found.findings if names)
    counts = Grid(box=None, pad_edge=False, show_header=False)
    counts.add_column(justify="right")
    for name, count in found.counts.items():
        if count:
            counts.add_row(f"{count:,}", Text(f"{name}: {respelled(FINDINGS[name], in_shell)}"))
    parts: Parts = [f"Findings for {sick:,} of {_labels(len(found.labels))}, {found.n_rows:,} rows"]
    if not found.probabilities:
        parts.append("Scores are not probabilities (0 to 1), so calibration is not judged.")
    parts += ["", counts] if sick else []
    kept = ("label", "support", "predicted", "score", "expected", "findings")
    table = Table({name: column for name, column in found._narrow_table().items() if name in kept})
    table["predicted"] = [f"{100 * share:.3g} %" for share in table["predicted"]]
    return [*parts, *_head(table, "Most harmful", np.arange(table.n_rows), len(found.labels))]


def applied(outcome: Any) -> Parts:
    """Show the number of predictions and rows, and of rows written if they are fewer."""
    written = "" if outcome.rows == outcome.rows_read else f"; {outcome.rows:,} written"
    return [f"{outcome.predicted:,} predicted in {_count(outcome.rows_read, 'row')}{written}"]


def decided(outcome: Any) -> Parts:
    """Show the expected score and the number of predictions."""
    found: Decision = outcome.decision
    return [f"Expected {_goal(found)} = {found.expected_score:.4f}", *applied(outcome)]


def reported(outcome: Any) -> Parts:
    """Show what a report is about, the number of rows, and the score on them."""
    found: Thresholds = outcome.thresholds
    reached = f"{_goal(found)} = {outcome.score:.4f}"
    return [f"Report on {_whose(found)} in {_count(outcome.rows, 'row')}: {reached}"]


def fitted(outcome: Any) -> Parts:
    """Show the number of records, and what the tagger learned from them."""
    found = documents.fitted(outcome)
    penalty = f"Penalty {found['median_penalty']:.3g} for all terms"
    if found["penalty"] == "per-label":
        largest = _count(found["with_largest_penalty"], "term")
        penalty = (
            f"Penalties: median {found['median_penalty']:.3g}; {largest} with the largest, "
            f"{found['largest_penalty']:.3g}"
        )
    return [
        f"{_count(found['records'], 'record')} read: {found['documents']:,} with MeSH terms, "
        f"{found['without_mesh']:,} without, {found['replaced']:,} replaced, "
        f"{found['deleted']:,} deleted",
        f"Fitted {_count(found['terms'], 'term')} to {found['documents']:,} documents: "
        f"{found['words']:,} words, rank {found['rank']:,}, {found['seconds']:.1f} s",
        penalty,
    ]


def tagged(outcome: Any) -> Parts:
    """Show the number of predicted terms."""
    terms, records = _count(outcome.terms, "term"), _count(outcome.records, "record")
    return [f"{terms} predicted for {records}; without any: {outcome.without:,}"]


def evaluated(evaluation: "Evaluation") -> Parts:
    """Show the scores of each rule, and explain the columns."""
    from halfmax.mesh.rules.judge import RARE

    found = documents.evaluated(evaluation)
    table = Grid("rule", box=None, pad_edge=False, header_style="bold")
    for name in ("macro F1", "occurring", "micro F1", "per record", "terms", "floods"):
        table.add_column(name, justify="right", no_wrap=True)
    for rule in found["rules"]:
        name, *scores, terms, floods = rule.values()
        cells = [f"{float(score):.4f}" for score in scores]
        table.add_row(name, *cells, f"{terms:.1f}", f"{floods:,}")
    return [
        f"{_count(found['documents'], 'record')} with {_count(found['headings'], 'heading')}, "
        f"{found['unknown_headings']:,} of them of terms unknown to the tagger, left out here",
        "",
        table,
        "",
        f"macro F1: the mean over all {found['terms']:,} terms; occurring: over the "
        f"{found['occurring_terms']:,} that these records have; per record: the mean over records; "
        "terms: predicted for a record",
        "floods: terms predicted for more than a third of the records, though fewer than 1 in "
        f"{1 / RARE:,.0f} of the records that the tagger learned from have them",
    ]


def generated(outcome: Any) -> Parts:
    """Show the number of generated records, terms and words."""
    recipe = outcome.recipe
    of = f"{_count(recipe.n_labels, 'term')} and {_count(recipe.n_words, 'word')}"
    others = f", and {recipe.n_test:,} more to evaluate on" if recipe.n_test else ""
    return [f"Generated {_count(recipe.n_train, 'record')} of {of}{others}"]


def studied(study: "Study") -> Parts:
    """Show the terms that the macro rule predicts most often, and the scores of all rules."""
    from halfmax.mesh.rules.judge import RARE
    from halfmax.paper.mesh.sheets import sheets

    tables = [
        sheet
        for sheet in sheets(study)
        if sheet.kind in ("macro terms", "rules")  # the page has the others
    ]
    parts: Parts = [
        f"Records: {study.source}; {study.n_train:,} to learn from, {study.n_test:,} held out",
        f"{_count(len(study.terms), 'term')}, {study.n_words:,} words, rank {study.rank:,}",
        f"Bold terms are rare: fewer than 1 in {1 / RARE:,.0f} records to learn from have them",
    ]
    for sheet in tables:
        parts += ["", f"{sheet.title}:", _sheet_grid(sheet)]
    return parts


SUMMARIES: dict[str, Callable[[Any], Parts]] = {
    "tune": tuned,
    "apply": applied,
    "assess": assessed,
    "diagnose": diagnosed,
    "decide": decided,
    "report": reported,
    "mesh fit": fitted,
    "mesh tag": tagged,
    "mesh evaluate": evaluated,
    "mesh generate": generated,
}


def _goal(found: Any) -> str:
    return found.metric if found.average == "binary" else f"{found.average} {found.metric}"


def _whose(found: "Thresholds") -> str:
    return "one classifier" if found.average == "binary" else _labels(len(found.thresholds))


def _labels(count: int) -> str:
    return _count(count, "label")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _head(table: Table, which: str, order: npt.NDArray[Any], size: int | None = None) -> Parts:
    """Show the first labels in an order as a table, with a title if some are left out."""
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


def _sheet_grid(sheet: "Sheet") -> Grid:
    """Build a table that truncates words on a narrow screen, but never numbers."""
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(sheet.columns):
        if place < sheet.words:
            grid.add_column(name, vertical="bottom")
            continue
        widest = max((len(row[place]) for row in sheet.rows), default=0)
        head = "\n".join(wrap(name, max(widest, _SHEET_HEAD)))
        grid.add_column(head, justify="right", no_wrap=True, vertical="bottom")
    for number, row in enumerate(sheet.rows):
        cells = (Text(on_one_line(cell), no_wrap=True, overflow="ellipsis") for cell in row)
        grid.add_row(*cells, style="bold" if number in sheet.bold else None)
    return grid
