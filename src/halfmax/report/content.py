"""Everything that a report says, computed; how it looks is decided elsewhere."""

from typing import Any, NamedTuple

import numpy as np

from halfmax._core.labelled import LabelledScores
from halfmax._core.progress import Progress
from halfmax._core.types import Floats
from halfmax.honesty.assess import assess_tuned
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.case import Case, Draws
from halfmax.honesty.cross_fit import judge_elsewhere
from halfmax.honesty.diagnose import diagnose_assessed, diagnose_checked
from halfmax.honesty.diagnosis import FINDINGS, Diagnosis
from halfmax.honesty.intervals import is_bounded
from halfmax.metrics.average import AVERAGES
from halfmax.metrics.goal import Goal
from halfmax.metrics.objective import Objective
from halfmax.report.parts.examples import Example, some_rows
from halfmax.report.parts.pooled import Pooled, pool
from halfmax.report.parts.rules import MANY, JudgedRule, find_rules, judge_rules
from halfmax.report.parts.steps import CountedSteps, count_steps
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact.choose import best_thresholds, choose_on
from halfmax.tuning.found import Tuning
from halfmax.tuning.report_request import ReportRequest
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tune import choose_thresholds


class Subject(NamedTuple):
    """What a report is about: the data, how they were tuned, and whether it was on these data."""

    request: ReportRequest
    data: LabelledScores
    tuning: Tuning  # of these data
    tuned_here: bool
    remembered: bool = False  # whether the thresholds themselves know how they were tuned

    @property
    def thresholds(self) -> Thresholds:
        return self.request.thresholds

    @property
    def goal(self) -> Goal:
        return self.tuning.goal


class Content(NamedTuple):
    """What was found: of the whole, of each label, and at each threshold that can be tried."""

    subject: Subject
    names: list[str]
    rules: list[JudgedRule]  # the thresholds themselves first, then the usual cut
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
        return self.rules[0]

    @property
    def usual(self) -> JudgedRule:
        return self.rules[1]

    @property
    def score(self) -> float:
        """What the thresholds reach on these data."""
        return self.tuned.scores[self.subject.thresholds.average]

    @property
    def objective(self) -> Objective:
        """What is scored; floors restricted the choice only."""
        return self.subject.goal.objective.without_floors

    @property
    def label_scores(self) -> Floats:
        return self.objective(*self.tuned.choice.counts)

    @property
    def is_bounded(self) -> bool:
        """Whether all scores that can be shown are from 0 to 1."""
        stairs = self.steps.stairs
        label = stairs.grid.columns
        rest = stairs.positives[label], stairs.total[label]
        tried = self.objective(stairs.true_positives, stairs.predicted, *rest)
        nobody = self.objective(0, 0, stairs.positives, stairs.total)
        return is_bounded(tried, nobody)


_STAGES = 5


def gather(subject: Subject, draws: Draws) -> Content:
    """Do all the counting that a report needs."""
    data, tuning = subject.data, subject.tuning
    plain = tuning.goal.objective.without_floors
    assessment = _assessment(subject, draws)
    diagnosis = _diagnosis(subject, assessment, draws)
    with Progress(draws.progress, "report: counting", _STAGES) as told:
        found = find_rules(subject.thresholds, tuning)
        told.advance(1)
        steps = count_steps(data, tuning.stairs, found.limits)
        rules = judge_rules(found, data, steps.stairs, plain)
        told.advance(2)
        shared = {} if data.is_binary else _best_shared(data, plain)
        marked = [rules[1].choice.thresholds[0], *shared.values()]
        pooled = None if data.is_binary else pool(data, plain, marked)
        told.advance(2)
    return Content(
        subject,
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
    given, tuned = subject.request.assessment, subject.thresholds
    if given is False:
        return None
    if isinstance(given, Assessment):
        return given
    if not subject.tuned_here:
        case = Case(subject.data, subject.goal, tuned, draws)
        return Assessment.of(case, judge_elsewhere(case))
    if subject.remembered or _is_chosen_again(subject):
        return assess_tuned(tuned, subject.tuning, draws)
    return None


def _is_chosen_again(subject: Subject) -> bool:
    """Whether tuning again gives these thresholds: a file knows nothing of floors."""
    chosen = choose_thresholds(subject.data, subject.goal, subject.tuning.stairs).thresholds
    return np.array_equal(chosen, subject.thresholds.thresholds)


def _diagnosis(subject: Subject, assessed: Assessment | None, draws: Draws) -> Diagnosis | None:
    """What is wrong with each label, tuned for itself; not known of rows with weights."""
    given, goal = subject.request.diagnosis, subject.goal
    if given is False:
        return None
    if isinstance(given, Diagnosis):
        return given
    if subject.data.weights is not None:
        return None
    plain = goal.labels_apart and goal.guard is None and not goal.objective.floors
    if assessed is not None and subject.tuned_here and plain:
        return diagnose_assessed(subject.tuning, assessed)
    return diagnose_checked(subject.data, goal.for_labels_apart, draws, subject.tuning.stairs)


def _best_shared(data: LabelledScores, objective: Objective) -> dict[str, float]:
    """The best threshold for all labels, by average; of very many scores for pooled counts only."""
    averages = AVERAGES if data.scores.size <= MANY else ("micro",)
    goals = {average: Goal(objective, average, per_label=False) for average in averages}
    return {average: float(best_thresholds(data, goal)[0]) for average, goal in goals.items()}


def names_of(subject: Subject) -> list[Any]:
    """What the labels may be called: as in the data, by the thresholds, or by their places."""
    known = subject.data.labels, subject.thresholds.labels, range(subject.data.n_labels)
    return [names for names in known if names is not None]


def _names(subject: Subject) -> list[str]:
    """Names to show; where two look the same, as 1 and "1" do, they are spelled as in Python."""
    if subject.data.is_binary:
        return ["classifier"]
    labels = names_of(subject)[0]
    names = [str(label) for label in labels]
    if len(set(names)) < len(names):
        names = [repr(label) for label in labels]
    return [name if name.strip() else "(no name)" for name in names]


def _half_max(data: LabelledScores, objective: Objective, stairs: Staircase) -> Floats:
    """Where each label's best threshold would be if the scores were calibrated."""
    best = objective(*choose_on(stairs, "macro", objective).counts)
    known = data.may_be_probabilities & (best > 0) & (stairs.positives > 0)
    return np.where(known, objective.metric.plug_in(best), np.nan)


def _findings(
    subject: Subject, rule: JudgedRule, diagnosis: Diagnosis | None
) -> list[tuple[str, ...]]:
    """Of each label what its scores are diagnosed with; whether it floods, at these thresholds."""
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
