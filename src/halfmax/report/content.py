"""Compute everything that a report shows; `page` decides how it looks."""

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.limits import limits
from halfmax._core.progress import Progress
from halfmax._core.types import Floats
from halfmax.honesty.assess import assess_tuned
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.case import Case, Draws
from halfmax.honesty.cross_fit import judge_elsewhere
from halfmax.honesty.diagnose import diagnose_assessed, diagnose_checked
from halfmax.honesty.diagnosis import FINDINGS, Diagnosis
from halfmax.honesty.intervals import SHARES, range_of
from halfmax.metrics.goal import Goal
from halfmax.metrics.objective import NotMonotoneError, Objective
from halfmax.report.parts.examples import Example, some_rows
from halfmax.report.parts.pooled import Pooled, pool
from halfmax.report.parts.rules import (
    PLUG_IN,
    USUAL,
    JudgedRule,
    find_rules,
    judge_rules,
    plug_in_cut,
)
from halfmax.report.parts.steps import CountedSteps, count_steps
from halfmax.report.score_words import ScoreWords
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact.choose import best_thresholds, choose
from halfmax.tuning.report_request import ReportRequest
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tune import choose_thresholds
from halfmax.tuning.tuning import Tuning


class Subject(NamedTuple):
    """The subject of a report: its data, the tuning, and whether that used these data."""

    request: ReportRequest
    data: LabelledScores
    tuning: Tuning  # on these data
    tuned_here: bool
    remembered: bool = False  # whether the thresholds keep their own tuning

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds to report on."""
        return self.request.thresholds

    @property
    def goal(self) -> Goal:
        """What the thresholds maximise."""
        return self.tuning.goal


class Content(NamedTuple):
    """The content of a report: overall, for each label, and at each threshold to try."""

    subject: Subject
    words: ScoreWords
    names: list[str]
    rules: list[JudgedRule]  # the thresholds themselves first, then the default cut
    steps: CountedSteps
    pooled: Pooled | None
    best_shared: dict[str, float]  # by average
    half_max: Floats  # NaN where there is none
    findings: list[tuple[str, ...]]
    assessment: Assessment | None
    diagnosis: Diagnosis | None
    examples: list[Example]

    @property
    def tuned(self) -> JudgedRule:
        """The thresholds themselves."""
        return self.rules[0]

    @property
    def usual(self) -> JudgedRule:
        """The default cut, such as 0.5 for all labels."""
        return self.rules[1]

    @property
    def plug_in(self) -> JudgedRule | None:
        """The threshold that costs alone give for calibrated probabilities, if it is a rule."""
        return next((rule for rule in self.rules if rule.key == PLUG_IN), None)

    @property
    def positive_class(self) -> str | None:
        """The name of the positive class of one classifier, if it is known."""
        data, request = self.subject.data, self.subject.request
        if not data.is_binary:
            return None
        names = data.labels or self.subject.thresholds.labels
        if names:
            return str(names[0])
        return None if request.pos_label is None else str(request.pos_label)

    @property
    def score(self) -> float:
        """The score of the thresholds on these data."""
        return self.tuned.scores[self.subject.thresholds.average]

    @property
    def objective(self) -> Objective:
        """The metric to score by; floors only restrict the choice of thresholds."""
        return self.subject.goal.objective.unrestricted

    @property
    def label_scores(self) -> Floats:
        """The score of each label."""
        return self.objective(*self.tuned.choice.counts)

    @property
    def is_bounded(self) -> bool:
        """Whether scores are from 0 to 1, even if every prediction were wrong; costs are not."""
        if self.words.is_cost:
            return False
        stairs = self.steps.stairs
        label = stairs.grid.columns
        at_steps = self.objective(
            stairs.true_positives, stairs.predicted, stairs.positives[label], stairs.total[label]
        )
        at_none = self.objective(0, 0, stairs.positives, stairs.total)
        counts = self.tuned.choice.counts
        return range_of(self.objective, counts, at_steps, at_none) == SHARES


_STAGES = 5


def gather(subject: Subject, draws: Draws) -> Content:
    """Compute everything that a report shows."""
    data, tuning = subject.data, subject.tuning
    plain = tuning.goal.objective.unrestricted
    words = ScoreWords(plain.metric.name, subject.thresholds.average)
    assessment = _assessment(subject, draws)
    diagnosis = _diagnosis(subject, assessment, draws)
    with Progress(draws.progress, "report: counting", _STAGES) as progress:
        found = find_rules(subject.thresholds, tuning, words)
        progress.advance(1)
        steps = count_steps(data, tuning.stairs, found.limits)
        rules = judge_rules(found, data, steps.stairs, plain, words.averages)
        progress.advance(2)
        shared = _best_shared(data, plain, words)
        cuts = [rule.choice.thresholds[0] for rule in rules if rule.key in (USUAL, PLUG_IN)]
        marked = [*cuts, *shared.values()]
        pooled = None if data.is_binary else pool(data, plain, marked, words.averages)
        progress.advance(2)
    return Content(
        subject,
        words=words.sized_for(rules[0].scores[words.average]),
        names=_names(subject),
        rules=rules,
        steps=steps,
        pooled=pooled,
        best_shared=shared,
        half_max=_half_max(data, plain, tuning.stairs),
        findings=_findings(subject, rules[0], diagnosis),
        assessment=assessment,
        diagnosis=diagnosis,
        examples=[] if data.is_binary else some_rows(data, rules),
    )


def _assessment(subject: Subject, draws: Draws) -> Assessment | None:
    """Return the assessment in the request, or assess the thresholds, if that is possible."""
    requested, tuned = subject.request.assessment, subject.thresholds
    if requested is False:
        return None
    if isinstance(requested, Assessment):
        return requested
    if not subject.tuned_here:
        case = Case(subject.data, subject.goal, tuned, draws)
        return Assessment.of(case, judge_elsewhere(case))
    if subject.remembered or (not np.isnan(tuned.score) and _is_chosen_again(subject)):
        return assess_tuned(tuned, subject.tuning, draws)
    return None


def _is_chosen_again(subject: Subject) -> bool:
    """Return whether tuning again finds these thresholds; a file does not store floors."""
    chosen = choose_thresholds(subject.data, subject.goal, subject.tuning.stairs).thresholds
    return np.array_equal(chosen, subject.thresholds.thresholds)


def _diagnosis(subject: Subject, assessed: Assessment | None, draws: Draws) -> Diagnosis | None:
    """Diagnose each label, tuned on its own; rows with weights cannot be diagnosed."""
    requested, goal = subject.request.diagnosis, subject.goal
    if requested is False:
        return None
    if isinstance(requested, Diagnosis):
        return requested
    if subject.data.weights is not None:
        return None
    plain = goal.labels_apart and goal.guard is None and not goal.objective.restrictions
    if assessed is not None and subject.tuned_here and plain:
        return diagnose_assessed(subject.tuning, assessed)
    return diagnose_checked(subject.data, goal.for_labels_apart, draws, subject.tuning.stairs)


def _best_shared(data: LabelledScores, objective: Objective, words: ScoreWords) -> dict[str, float]:
    """Find the best shared threshold by average; with very many scores, for pooled counts only."""
    found = {}
    for average in words.averages:
        pooled = average == "micro" or (words.is_cost and average != "weighted")
        if pooled or data.scores.size <= limits.report_row_scores:
            goal = Goal(objective, "micro" if pooled else average, per_label=False)
            with suppress(NotMonotoneError):
                found[average] = float(best_thresholds(data, goal)[0])
    return found


def names_of(subject: Subject) -> list[Any]:
    """Return the possible names of labels: of the data, of the thresholds, and by number."""
    names = subject.data.labels, subject.thresholds.labels, range(subject.data.n_labels)
    return [some for some in names if some is not None]


def _names(subject: Subject) -> list[str]:
    """Return names to show; if two look the same, as 1 and "1" do, use their repr."""
    if subject.data.is_binary:
        return ["classifier"]
    labels = names_of(subject)[0]
    names = [str(label) for label in labels]
    if len(set(names)) < len(names):
        names = [repr(label) for label in labels]
    return [name if name.strip() else "(no name)" for name in names]


def _half_max(data: LabelledScores, objective: Objective, stairs: Staircase) -> Floats:
    """Return the best threshold of each label if the scores were calibrated."""
    metric, nowhere = objective.metric, np.full(stairs.n_labels, np.nan)
    if metric.is_cost:
        cut = plug_in_cut(metric, data)
        return nowhere if cut is None else np.full(stairs.n_labels, cut)
    if not data.may_be_probabilities:
        return nowhere
    goal = Goal(objective, one_classifier=data.is_binary)
    best = objective(*choose(data, goal, stairs).counts)
    known = (best > 0) & (stairs.positives > 0)
    return np.where(known, metric.plug_in(best, stairs.positives / stairs.total), np.nan)


def _findings(
    subject: Subject, rule: JudgedRule, diagnosis: Diagnosis | None
) -> list[tuple[str, ...]]:
    """Return the findings of each label; flooding is judged at these thresholds."""
    flooding = rule.choice.counts.floods().tolist()
    found: list[tuple[str, ...]] = [()] * len(flooding)
    if diagnosis is not None:
        known = dict(zip(diagnosis.labels, diagnosis.findings, strict=True))
        names = next(names for names in names_of(subject) if set(names) == set(known))
        found = [known[name] for name in names]
    return [
        tuple(name for name in FINDINGS if (flood if name == "flooding" else name in names))
        for names, flood in zip(found, flooding, strict=True)
    ]
