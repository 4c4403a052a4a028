"""What the thresholds will show on new data, and which labels are to blame."""

import numpy as np

from halfmax._core.labelled import LabelledScores
from halfmax.honesty.assess import How, assess_checked
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.case import Case
from halfmax.honesty.cross_fit import judge_elsewhere
from halfmax.honesty.diagnose import diagnose_assessed, diagnose_checked
from halfmax.honesty.diagnosis import Diagnosis
from halfmax.metrics.objective import Objective
from halfmax.tuning.found import Origin
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tune import choose_with


def is_remembered(data: LabelledScores, tuned: Thresholds, origin: Origin) -> bool:
    """Whether tuning again in this way gives these thresholds: a file knows nothing of floors."""
    what = origin.average, origin.per_label, origin.objective, origin.guard
    return np.array_equal(choose_with(data, *what).thresholds, tuned.thresholds)


def assess(data: LabelledScores, tuned: Thresholds, origin: Origin, how: How) -> Assessment:
    """As `halfmax.assess` does, without tuning first."""
    what = origin.average, origin.per_label, origin.objective, origin.guard
    return assess_checked(data, *what, tuned, **how)


def measure(data: LabelledScores, tuned: Thresholds, origin: Origin, how: How) -> Assessment:
    """The score on data that the thresholds were not tuned on."""
    what = origin.average, origin.per_label, origin.objective, origin.guard
    case = Case(data, *what, tuned, **how)
    return Assessment.of(case, judge_elsewhere(case))


def diagnose(
    data: LabelledScores, origin: Origin, assessed: Assessment | None, how: How
) -> Diagnosis | None:
    """What is wrong with each label, tuned for itself; not known of rows with weights."""
    if data.weights is not None:
        return None
    objective = origin.objective
    plain = Objective(objective.metric, objective.zero_division)
    apart = data.is_binary or (origin.average == "macro" and origin.per_label)
    if assessed is not None and apart and origin.guard is None and not objective.floors:
        return diagnose_assessed(data, plain, assessed)
    return diagnose_checked(data, plain, how)
