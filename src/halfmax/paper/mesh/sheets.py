"""The tables of the case study as cells of text, for a screen, a page or Markdown."""

import re
from dataclasses import dataclass

from halfmax.mesh.model.settings import PENALTIES
from halfmax.mesh.stages import Stage
from halfmax.metrics.average import AVERAGES
from halfmax.paper.mesh.study import PenaltyOutcome, Study
from halfmax.paper.mesh.terms import Term, rank_terms

_AVERAGE = {"macro": "macro F1", "micro": "micro F1", "samples": "per-instance F1"}
_PENALTY = {"shared": "one penalty for all terms", "per-label": "a penalty per term"}
_MARKUP = re.compile(r"([\\`*_<>|\[\]])")


@dataclass(frozen=True)
class Sheet:
    """A table: numbers are aligned right, and some rows are bold."""

    kind: str  # "rules", "stages", or the terms of a rule, such as "macro terms"
    title: str
    columns: list[str]
    rows: list[list[str]]
    bold: frozenset[int] = frozenset()
    words: int = 1  # number of text columns, on the left

    def markdown(self) -> str:
        """Format the table as Markdown."""
        lines = [
            f"**{_escaped(self.title)}**",
            "",
            _line(self.columns),
            _line(["---" if c < self.words else "---:" for c in range(len(self.columns))]),
        ]
        for r, row in enumerate(self.rows):
            cells = [_escaped(cell) for cell in row]
            bold = r in self.bold
            lines.append(_line([f"**{cell}**" if bold and cell else cell for cell in cells]))
        return "\n".join(lines) + "\n"


def sheets(study: Study) -> list[Sheet]:
    """List all tables: terms under each rule, the scores of the rules, time and memory."""
    ranked = [
        _terms_sheet(study, penalty, average) for penalty in PENALTIES for average in AVERAGES
    ]
    judged = [_rules_sheet(study.by_penalty[penalty], study) for penalty in PENALTIES]
    return [*ranked, *judged, _stages_sheet(study.stages)]


def _terms_sheet(study: Study, penalty: str, average: str) -> Sheet:
    name = "term" if study.synthetic else "MeSH term"
    columns = ["rank", name, "count", "max F1", "threshold", "F1 held out", "in training"]
    rows, bold = list[list[str]](), set[int]()
    for term in rank_terms(study, penalty, average):
        if term.rare:
            bold.add(len(rows))
        rows.append(_term_row(term))
        if term.left_out:
            rows.append(["", f"and {term.left_out:,} more rare terms", *[""] * 5])
    title = f"Most often predicted for {_AVERAGE[average]}, {_PENALTY[penalty]}"
    return Sheet(f"{average} terms", title, columns, rows, frozenset(bold), words=2)


def _term_row(term: Term) -> list[str]:
    return [
        f"{term.rank:,}",
        term.name,
        f"{term.predicted:,}",
        f"{term.best:.4g}",
        f"{term.threshold:.3g}",
        f"{term.reached:.3f}",
        f"{term.positives:,}",
    ]


def _rules_sheet(outcome: PenaltyOutcome, study: Study) -> Sheet:
    columns = [
        "rule",
        "macro F1",
        "macro F1, terms that occur",
        "micro F1",
        "per-instance F1",
        "terms per document",
        "rare terms for over a third",
    ]
    rows = []
    for name, judged in outcome.judged.items():
        *scores, terms, floods = judged.summary(study.rare).values()
        rows.append([name, *(f"{score:.4f}" for score in scores), f"{terms:,.1f}", f"{floods:,}"])
    title = f"On {study.n_test:,} held-out documents, {_PENALTY[outcome.penalty]}"
    return Sheet("rules", title, columns, rows)


def _stages_sheet(stages: list[Stage]) -> Sheet:
    rows = [
        [
            stage.name,
            f"{stage.seconds:,.1f}",
            "" if stage.peak_bytes is None else f"{stage.peak_bytes / 2**30:.2f}",
            "yes" if stage.reused else "",
        ]
        for stage in stages
    ]
    total = sum(stage.seconds for stage in stages)
    most = max((stage.peak_bytes or 0 for stage in stages), default=0)
    rows.append(["all stages", f"{total:,.1f}", f"{most / 2**30:.2f}", ""])
    columns = ["stage", "seconds", "peak memory, GiB", "done before"]
    return Sheet("stages", "Time and memory", columns, rows, frozenset([len(rows) - 1]))


def _escaped(cell: str) -> str:
    return _MARKUP.sub(r"\\\1", " ".join(cell.split()))


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
