"""Decision thresholds that maximise the F-measure.

    >>> import halfmax as hm
    >>> t = hm.tune([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> t.threshold, t.score
    (0.35, 0.8)

Conventions, true everywhere: a row is predicted positive if and only if ``score >= threshold``, so
``+inf`` means nobody; equal scores go together; among equally good thresholds the highest wins; 0/0
is ``zero_division``; a score of ``-inf``, or one absent from a sparse matrix, is never predicted.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfmax._errors import HalfmaxWarning, OptimismWarning
    from halfmax.assessing import assess
    from halfmax.assessment import Assessment
    from halfmax.deciding import decide
    from halfmax.deciding_jointly import JointDecision, decide_joint
    from halfmax.decision import Decision
    from halfmax.diagnosing import diagnose
    from halfmax.diagnosis import Diagnosis
    from halfmax.displays.decision_region import DecisionRegionDisplay
    from halfmax.displays.expected_curve import ExpectedCurveDisplay
    from halfmax.displays.half_max import HalfMaxDisplay
    from halfmax.displays.label_health import LabelHealthDisplay
    from halfmax.displays.threshold_curve import ThresholdCurveDisplay
    from halfmax.displays.winners_curse import WinnersCurseDisplay
    from halfmax.expected import expected_curve
    from halfmax.expected_f_classifier import ExpectedFClassifier
    from halfmax.grid import Grid
    from halfmax.joint import joint_from_samples
    from halfmax.metrics import FBeta, LinearFractional, Metric
    from halfmax.region import DecisionRegion
    from halfmax.regions import decision_region
    from halfmax.scoring import score
    from halfmax.staircase import Staircase
    from halfmax.tables.applying import apply_table
    from halfmax.tables.assessing import assess_table, diagnose_table
    from halfmax.tables.deciding import TableDecision, decide_table
    from halfmax.tables.delivery import Written
    from halfmax.tables.tuning import tune_table
    from halfmax.threshold_classifier import ThresholdClassifier
    from halfmax.threshold_scorer import make_threshold_scorer
    from halfmax.thresholds import Thresholds
    from halfmax.tuning import tune
    from halfmax.winners_curse import simulate_winners_curse

__version__ = "0.1.0"

__all__ = [
    "Assessment",
    "Decision",
    "DecisionRegion",
    "DecisionRegionDisplay",
    "Diagnosis",
    "ExpectedCurveDisplay",
    "ExpectedFClassifier",
    "FBeta",
    "Grid",
    "HalfMaxDisplay",
    "HalfmaxWarning",
    "JointDecision",
    "LabelHealthDisplay",
    "LinearFractional",
    "Metric",
    "OptimismWarning",
    "Staircase",
    "TableDecision",
    "ThresholdClassifier",
    "ThresholdCurveDisplay",
    "Thresholds",
    "WinnersCurseDisplay",
    "Written",
    "apply_table",
    "assess",
    "assess_table",
    "decide",
    "decide_joint",
    "decide_table",
    "decision_region",
    "diagnose",
    "diagnose_table",
    "expected_curve",
    "joint_from_samples",
    "make_threshold_scorer",
    "score",
    "simulate_winners_curse",
    "tune",
    "tune_table",
]

# Names are fetched when first used: importing numba and scipy takes longer than an import should.
_HOME = {
    "Assessment": "assessment",
    "Decision": "decision",
    "DecisionRegion": "region",
    "DecisionRegionDisplay": "displays.decision_region",
    "Diagnosis": "diagnosis",
    "ExpectedCurveDisplay": "displays.expected_curve",
    "ExpectedFClassifier": "expected_f_classifier",
    "FBeta": "metrics",
    "Grid": "grid",
    "HalfMaxDisplay": "displays.half_max",
    "HalfmaxWarning": "_errors",
    "JointDecision": "deciding_jointly",
    "LabelHealthDisplay": "displays.label_health",
    "LinearFractional": "metrics",
    "Metric": "metrics",
    "OptimismWarning": "_errors",
    "Staircase": "staircase",
    "TableDecision": "tables.deciding",
    "ThresholdClassifier": "threshold_classifier",
    "ThresholdCurveDisplay": "displays.threshold_curve",
    "Thresholds": "thresholds",
    "WinnersCurseDisplay": "displays.winners_curse",
    "Written": "tables.delivery",
    "apply_table": "tables.applying",
    "assess": "assessing",
    "assess_table": "tables.assessing",
    "decide": "deciding",
    "decide_joint": "deciding_jointly",
    "decide_table": "tables.deciding",
    "decision_region": "regions",
    "diagnose": "diagnosing",
    "diagnose_table": "tables.assessing",
    "expected_curve": "expected",
    "joint_from_samples": "joint",
    "make_threshold_scorer": "threshold_scorer",
    "score": "scoring",
    "simulate_winners_curse": "winners_curse",
    "tune": "tuning",
    "tune_table": "tables.tuning",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'halfmax' has no attribute {name!r}")
    value = getattr(import_module(f"halfmax.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__version__"])
