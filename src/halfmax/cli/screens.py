"""Summaries of results that fit into a terminal."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from rich.table import Table as Grid
from rich.text import Text

from halfmax._core.errors import respelled
from halfmax._core.result import Table
from halfmax.cli import documents
from halfmax.cli.layout import Parts, add_numbers, labels_grid, numbers_grid, sheet_grid
from halfmax.cli.spelling import in_shell
from halfmax.honesty.diagnosis import FINDINGS
from halfmax.metrics.words import costs_alone, is_cost, shown

if TYPE_CHECKING:
    from halfmax.expected.decision import Decision
    from halfmax.honesty.assessment import Assessment
    from halfmax.honesty.diagnosis import Diagnosis
    from halfmax.mesh.rules.evaluate import Evaluation
    from halfmax.paper.curse.simulation import Curse
    from halfmax.paper.mesh.study import Study
    from halfmax.paper.reproduce import Reproduction
    from halfmax.tuning.thresholds import Thresholds

_SHOWN = 10  # labels; the file and --json have all of them


def tuned(outcome: Any) -> Parts:
    """Show the score, the labels that are never predicted, and the most frequent labels."""
    found: Thresholds = outcome.thresholds
    parts: Parts = [f"Tuned {_whose(found)}: {_reached(found, found.score)} on these rows"]
    if is_cost(found.metric) and not np.isnan(cut := found.plug_in[0]):
        parts.append(f"Calibrated probabilities would have the threshold {cut:.4g}")
    never = found.thresholds == np.inf
    if never.any():
        empty = int((never & (found.support == 0)).sum())
        but = f", {empty:,} of them without positives" if empty else ""
        parts.append(f"Never predicted: {_labels(int(never.sum()))}{but}")
    table = costs_alone(found._plain_table())
    return [*parts, *_head(table, "Most frequent", -found.support)]


def assessed(found: "Assessment") -> Parts:
    """Show the expected score, and the labels that lose most of their score."""
    metric = found.thresholds.metric
    low, high = sorted(shown(metric, end) for end in found.score_interval)
    lost = found.label_scores - found.label_expected_scores
    return [
        f"{_reached(found.thresholds, found.score)} on these rows, "
        f"{shown(metric, found.expected_score):.4f} expected on new ones",
        f"{100 * found.level:g} % interval for endless new rows: {low:.4f} to {high:.4f}",
        *_head(costs_alone(found._plain_table()), "Largest losses", -np.nan_to_num(lost)),
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
    narrow = found._narrow_table()
    table = Table({name: narrow[name] for name in narrow if name not in ("base_rate", "threshold")})
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
    reached = _reached(found, outcome.score)
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
        add_numbers(table, name, ())
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
        parts += ["", f"{sheet.title}:", sheet_grid(sheet)]
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


def _reached(found: "Thresholds", score: float) -> str:
    """Return what thresholds reach, in words: the cost itself if they minimise one."""
    mean = "mean " if is_cost(found.metric) else ""
    return f"{mean}{_goal(found)} = {shown(found.metric, score):.4f}"


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
    return ["", *title, labels_grid(some.without_place())]


def claimed(found: "Reproduction") -> Parts:
    """Show the claims of the paper beside what was computed, and count those that agree."""
    from halfmax.report.templating import shown_number

    grid = Grid(title="The paper's claims", expand=True)
    grid.add_column("claim", ratio=1)
    for name, most in (("the paper", 13), ("ours", 13), ("verdict", 12)):
        grid.add_column(name, max_width=most)
    for claim in found.claims:
        words = Text(f"{claim.where}: {claim.statement}")
        if claim.grade:
            words.append(f"\n{claim.why}", style="italic")
        verdict = f"{claim.verdict}, {claim.grade}" if claim.grade else claim.verdict
        cells = shown_number(claim.paper), shown_number(claim.ours), verdict
        grid.add_row(words, *map(Text, cells), style="dark_orange3" if claim.grade else None)
    return [
        grid,
        f"{found.agreeing} of {len(found.claims)} claims agree; the others explain why not:",
        *(f"  {len(claims):2} {grade}" for grade, claims in found.differing.items()),
    ]


def cursed(curse: "Curse") -> Parts:
    """Show the distribution of the fraction predicted, for each base rate."""
    from halfmax.report.templating import shown_number

    rows = curse.summary()
    columns = {name: [shown_number(row[name]) for row in rows] for name in rows[0]}
    return [
        f"The fraction predicted positive, {curse.runs:,} runs of {curse.n:,} examples:",
        "",
        numbers_grid(columns, words=()),
        "",
        '"law" is the limit of "below half" for many positives; with few it does not hold.',
    ]
