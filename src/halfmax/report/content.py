"""Everything that a report says, computed; how it looks is decided elsewhere."""

from typing import Any, NamedTuple

import numpy as np

from halfmax._core.labelled import LabelledScores
from halfmax._core.progress import Progress
from halfmax._core.types import Floats
from halfmax.expected.decision import Decision
from halfmax.honesty.assess import How
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.diagnosis import FINDINGS, Diagnosis
from halfmax.honesty.intervals import is_bounded
from halfmax.metrics.average import AVERAGES
from halfmax.metrics.objective import Objective
from halfmax.report import honesty
from halfmax.report.parts.examples import Example, some_rows
from halfmax.report.parts.pooled import Pooled, pool
from halfmax.report.parts.rules import MANY, Rule, find_rules
from halfmax.report.parts.steps import Steps, count_steps
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact.choose import choose, choose_on
from halfmax.tuning.found import Origin
from halfmax.tuning.thresholds import Thresholds


class Given(NamedTuple):
    """What a report is asked to tell of; False means that it shall do without."""

    thresholds: Thresholds
    data: LabelledScores
    origin: Origin
    tuned_here: bool
    assessment: Assessment | bool | None = None
    diagnosis: Diagnosis | bool | None = None
    decision: Decision | None = None


class Content(NamedTuple):
    """What was found: of the whole, of each label, and at each threshold that can be tried."""

    given: Given
    names: list[str]
    rules: list[Rule]  # the thresholds themselves first, then the usual cut
    steps: Steps
    pooled: Pooled | None
    best_shared: dict[str, float]  # by average
    half_max: Floats  # NaN where there is none
    findings: list[tuple[str, ...]]
    assessment: Assessment | None
    diagnosis: Diagnosis | None
    examples: list[Example]

    @property
    def tuned(self) -> Rule:
        return self.rules[0]

    @property
    def usual(self) -> Rule:
        return self.rules[1]

    @property
    def score(self) -> float:
        """What the thresholds reach on these data."""
        return self.tuned.scores[self.given.thresholds.average]

    @property
    def objective(self) -> Objective:
        """What is scored; floors restricted the choice only."""
        asked = self.given.origin.objective
        return Objective(asked.metric, asked.zero_division)

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


def gather(given: Given, how: How) -> Content:
    """Do all the counting that a report needs."""
    data, tuned, origin = given.data, given.thresholds, given.origin
    plain = Objective(origin.objective.metric, origin.objective.zero_division)
    assessment = _assessment(given, how)
    diagnosis = _diagnosis(given, assessment, how)
    with Progress(how["progress"], "report: counting", _STAGES) as told:
        stairs = Staircase.of_checked(data)
        rules = find_rules(data, tuned, plain, origin.guard)
        told.advance(2)
        steps = count_steps(data, stairs, {rule.key: rule.choice.thresholds for rule in rules})
        told.advance(1)
        shared = {} if data.is_binary else _best_shared(data, plain)
        marked = [rules[1].choice.thresholds[0], *shared.values()]
        pooled = None if data.is_binary else pool(data, plain, marked)
        told.advance(2)
    return Content(
        given,
        names=_names(given),
        rules=rules,
        steps=steps,
        pooled=pooled,
        best_shared=shared,
        half_max=_half_max(data, plain, stairs),
        findings=_findings(given, rules[0], diagnosis),
        assessment=assessment,
        diagnosis=diagnosis,
        examples=[] if data.is_binary else some_rows(data, rules),
    )


def _assessment(given: Given, how: How) -> Assessment | None:
    if given.assessment is False:
        return None
    if isinstance(given.assessment, Assessment):
        return given.assessment
    what = given.data, given.thresholds, given.origin
    if not given.tuned_here:
        return honesty.measure(*what, how)
    known = given.thresholds._origin is given.origin or honesty.is_remembered(*what)
    return honesty.assess(*what, how) if known else None


def _diagnosis(given: Given, assessment: Assessment | None, how: How) -> Diagnosis | None:
    if given.diagnosis is False:
        return None
    if isinstance(given.diagnosis, Diagnosis):
        return given.diagnosis
    alike = assessment if given.tuned_here else None
    return honesty.diagnose(given.data, given.origin, alike, how)


def _best_shared(data: LabelledScores, objective: Objective) -> dict[str, float]:
    """The best threshold for all labels, by average; of very many scores for pooled counts only."""
    averages = AVERAGES if data.scores.size <= MANY else ("micro",)
    return {
        average: float(choose(data, average, False, objective).thresholds[0])
        for average in averages
    }


def names_of(given: Given) -> list[Any]:
    """What the labels may be called: as in the data, by the thresholds, or by their places."""
    known = given.data.labels, given.thresholds.labels, range(given.data.n_labels)
    return [names for names in known if names is not None]


def _names(given: Given) -> list[str]:
    """Names to show; where two look the same, as 1 and "1" do, they are spelled as in Python."""
    if given.data.is_binary:
        return ["classifier"]
    labels = names_of(given)[0]
    names = [str(label) for label in labels]
    if len(set(names)) < len(names):
        names = [repr(label) for label in labels]
    return [name if name.strip() else "(no name)" for name in names]


def _half_max(data: LabelledScores, objective: Objective, stairs: Staircase) -> Floats:
    """Where each label's best threshold would be if the scores were calibrated."""
    best = objective(*choose_on(stairs, "macro", objective).counts)
    known = data.may_be_probabilities & (best > 0) & (stairs.positives > 0)
    return np.where(known, objective.metric.plug_in(best), np.nan)


def _findings(given: Given, rule: Rule, diagnosis: Diagnosis | None) -> list[tuple[str, ...]]:
    """Of each label what its scores are diagnosed with; whether it floods, at these thresholds."""
    flooding = rule.choice.counts.floods().tolist()
    found: list[tuple[str, ...]] = [()] * len(flooding)
    if diagnosis is not None:
        known = dict(zip(diagnosis.labels, diagnosis.findings, strict=True))
        names = next(names for names in names_of(given) if set(names) == set(known))
        found = [known[name] for name in names]
    return [
        tuple(name for name in FINDINGS if (flood if name == "flooding" else name in names))
        for names, flood in zip(found, flooding, strict=True)
    ]
