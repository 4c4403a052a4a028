"""The documents that ``--json`` prints. Their keys stay as they are; new ones may be added.

Every document has "command" and "warnings", and "out" if the command can write a file. JSON has no
infinities and no NaN: they are the words "inf", "-inf" and "nan", as in the file of thresholds.
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


def tuned(made: Any) -> dict[str, Any]:
    """What was maximised and reached, each label's threshold, and the page about it."""
    found: Thresholds = made.thresholds
    return {
        "metric": found.metric,
        "average": found.average,
        "shared": found.shared,
        "zero_division": _plain(found.zero_division),
        "score": _plain(found.score),
        "never_predicted": int((found.thresholds == math.inf).sum()),
        "labels": _rows(found._plain_table()),
        "report": made.page,
    }


def assessed(found: "Assessment") -> dict[str, Any]:
    """What new data will show, of the whole and of each label."""
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
    """How many labels have which finding, then each label, the most harmful first."""
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


def applied(made: Any) -> dict[str, Any]:
    """How many rows were written and read, and how many are predicted."""
    return {"rows": made.rows, "rows_read": made.rows_read, "predicted": made.predicted}


def decided(made: Any) -> dict[str, Any]:
    """The same, and what is expected of them."""
    return {
        "metric": made.decision.metric,
        "average": made.decision.average,
        "expected_score": _plain(made.decision.expected_score),
        **applied(made),
    }


def reported(made: Any) -> dict[str, Any]:
    """What the thresholds of a page are for and reach, and how many rows it tells of."""
    found: Thresholds = made.thresholds
    about = {"metric": found.metric, "average": found.average, "rows": made.rows}
    return {**about, "score": _plain(made.score)}


def fitted(made: Any) -> dict[str, Any]:
    """What became of the records, what was learned from them, and how long each stage took."""
    corpus, tagger = made.corpus, made.tagger
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
        "penalty": made.settings.penalty,
        "median_penalty": statistics.median(tagger.penalties.tolist()),
        "largest_penalty": float(largest),
        "with_largest_penalty": int((tagger.penalties == largest).sum()),
        "bytes": made.bytes,
        "seconds": made.seconds,
        "stages": [stage._asdict() for stage in made.stages],
    }


def tagged(made: Any) -> dict[str, Any]:
    """How many records were tagged, with how many terms."""
    return {"records": made.records, "terms": made.terms, "without": made.without}


def evaluated(found: "Evaluation") -> dict[str, Any]:
    """How many records and headings there were, and what each rule reached on them."""
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


def generated(made: Any) -> dict[str, Any]:
    """How many records were made up, and of what."""
    return {
        "records": made.recipe.n_train,
        "test_records": made.recipe.n_test,
        "terms": made.recipe.n_labels,
        "words": made.recipe.n_words,
        "test_out": made.test_out,
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
