"""The JSON documents that ``--json`` prints. Their keys are stable; new ones may be added.

Every document has "command" and "warnings", and "out" if the command can write a file. JSON has no
infinities and no NaN: they are the strings "inf", "-inf" and "nan", as in the file of thresholds.
"""

import math
import statistics
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfmax._core.result import Table
    from halfmax.honesty.assessment import Assessment
    from halfmax.honesty.diagnosis import Diagnosis
    from halfmax.mesh.rules.evaluate import Evaluation
    from halfmax.mesh.rules.judge import Judged
    from halfmax.tuning.thresholds import Thresholds


def tuned(outcome: Any) -> dict[str, Any]:
    """Describe the goal and the score reached, the threshold of each label, and the report."""
    found: Thresholds = outcome.thresholds
    return {
        "metric": found.metric,
        "average": found.average,
        "shared": found.shared,
        "zero_division": _plain(found.zero_division),
        "score": _plain(found.score),
        "never_predicted": int((found.thresholds == math.inf).sum()),
        "labels": _rows(found._plain_table()),
        "report": outcome.page,
    }


def assessed(found: "Assessment") -> dict[str, Any]:
    """Describe what new data will show, overall and for each label."""
    return {
        "metric": found.thresholds.metric,
        "average": found.thresholds.average,
        "score": _plain(found.score),
        "expected_score": _plain(found.expected_score),
        "optimism": _plain(found.optimism),
        "score_interval": [_plain(end) for end in found.score_interval],
        "level": found.level,
        "labels": _rows(found._plain_table()),
    }


def diagnosed(found: "Diagnosis") -> dict[str, Any]:
    """Count the labels with each finding, then describe each label, the most harmful first."""
    rows = _rows(found._plain_table())
    for row, findings in zip(rows, found.findings, strict=True):
        row["findings"] = list(findings)
    return {
        "metric": found.metric,
        "rows": found.n_rows,
        "probabilities": found.probabilities,
        "counts": found.counts,
        "labels": rows,
    }


def applied(outcome: Any) -> dict[str, Any]:
    """Count the rows written and read, and the predictions."""
    return {"rows": outcome.rows, "rows_read": outcome.rows_read, "predicted": outcome.predicted}


def decided(outcome: Any) -> dict[str, Any]:
    """Describe the expected score of decisions, with the counts of `applied`."""
    return {
        "metric": outcome.decision.metric,
        "average": outcome.decision.average,
        "expected_score": _plain(outcome.decision.expected_score),
        **applied(outcome),
    }


def reported(outcome: Any) -> dict[str, Any]:
    """Describe the thresholds of a report, their score, and the number of rows."""
    found: Thresholds = outcome.thresholds
    about = {"metric": found.metric, "average": found.average, "rows": outcome.rows}
    return {**about, "score": _plain(outcome.score)}


def fitted(outcome: Any) -> dict[str, Any]:
    """Count the records, describe the tagger, and give the time of each stage."""
    corpus, tagger = outcome.corpus, outcome.tagger
    largest = tagger.penalties.max()
    return {
        "records": len(corpus) + corpus.replaced + corpus.deleted,
        "without_mesh": len(corpus) - tagger.n_documents,
        "replaced": corpus.replaced,
        "deleted": corpus.deleted,
        "documents": tagger.n_documents,
        "terms": len(tagger.terms),
        "words": len(tagger.words.vocabulary),
        "rank": len(tagger.offset),
        "penalty": outcome.settings.penalty,
        "median_penalty": statistics.median(tagger.penalties.tolist()),
        "largest_penalty": float(largest),
        "with_largest_penalty": int((tagger.penalties == largest).sum()),
        "bytes": outcome.bytes,
        "seconds": outcome.seconds,
        "stages": [stage._asdict() for stage in outcome.stages],
    }


def tagged(outcome: Any) -> dict[str, Any]:
    """Count the tagged records and their terms."""
    return {"records": outcome.records, "terms": outcome.terms, "without": outcome.without}


def evaluated(found: "Evaluation") -> dict[str, Any]:
    """Count records and headings, and give the scores of each rule on them."""
    from halfmax.mesh.rules.judge import are_rare

    tagger = found.tagger
    rare = are_rare(tagger.counts, tagger.n_documents)
    return {
        "documents": found.n_documents,
        "seen_documents": found.n_seen,
        "headings": found.n_headings,
        "unknown_headings": found.n_unknown,
        "terms": len(tagger.terms),
        "occurring_terms": int((found.judged[0].positives > 0).sum()),
        "rules": [_judged(judged, rare) for judged in found.judged],
    }


def generated(outcome: Any) -> dict[str, Any]:
    """Count the generated records, and their terms and words."""
    return {
        "records": outcome.recipe.n_train,
        "test_records": outcome.recipe.n_test,
        "terms": outcome.recipe.n_labels,
        "words": outcome.recipe.n_words,
        "test_out": outcome.test_out,
    }


DOCUMENTS: dict[str, Callable[[Any], dict[str, Any]]] = {
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


def _judged(judged: "Judged", rare: Any) -> dict[str, Any]:
    found = {name: _plain(value) for name, value in judged.summary(rare).items()}
    return {"rule": judged.rule.name, **found}


def _rows(table: "Table") -> list[dict[str, Any]]:
    columns = [column if isinstance(column, list) else column.tolist() for column in table.values()]
    return [dict(zip(table, map(_plain, row), strict=True)) for row in zip(*columns, strict=True)]


def _plain(value: Any) -> Any:
    return str(float(value)) if isinstance(value, float) and not math.isfinite(value) else value
