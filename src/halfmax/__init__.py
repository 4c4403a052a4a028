"""Decision thresholds that maximise the F-measure.

    >>> import halfmax as hm
    >>> t = hm.tune([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> t.threshold, t.score
    (0.35, 0.8)

Conventions, true everywhere: a row is predicted positive if and only if ``score >= threshold``, so
``+inf`` predicts nothing; equal scores go together; among equally good thresholds the highest wins;
0/0 is ``zero_division``; a score of ``-inf``, or one absent from a sparse matrix, is never
predicted.
"""

from importlib import import_module
from typing import Any

from halfmax._core import compiled

compiled.install()

__version__ = "0.1.0"

# The public names and the modules that define them. `__all__`, the lazy loader below and the type
# stub `__init__.pyi` (made by `python -m tools.stub`) all come from this table.
_HOME = {
    "Assessment": "honesty.assessment",
    "CostCurveDisplay": "displays.cost_curve",
    "Decision": "expected.decision",
    "DecisionRegion": "regions.region",
    "DecisionRegionDisplay": "displays.decision_region",
    "Diagnosis": "honesty.diagnosis",
    "ExpectedCurveDisplay": "displays.expected_curve",
    "ExpectedFClassifier": "estimators.expected_f_classifier",
    "FBeta": "metrics.metric",
    "Grid": "staircase.grid",
    "HalfMaxDisplay": "displays.half_max",
    "HalfmaxWarning": "_core.errors",
    "JointDecision": "expected.decide_joint",
    "LabelHealthDisplay": "displays.label_health",
    "LinearFractional": "metrics.metric",
    "Metric": "metrics.metric",
    "OptimismWarning": "_core.errors",
    "PrecisionRecallDisplay": "displays.precision_recall",
    "Staircase": "staircase.staircase",
    "TableDecision": "tables.decide",
    "ThresholdClassifier": "estimators.threshold_classifier",
    "ThresholdCurveDisplay": "displays.threshold_curve",
    "Thresholds": "tuning.thresholds",
    "WinnersCurseDisplay": "displays.winners_curse",
    "Written": "tables.written",
    "apply_table": "tables.apply",
    "assess": "honesty.assess",
    "assess_table": "tables.assess",
    "cost": "metrics.cost",
    "decide": "expected.decide",
    "decide_joint": "expected.decide_joint",
    "decide_table": "tables.decide",
    "decision_region": "regions.find",
    "diagnose": "honesty.diagnose",
    "diagnose_table": "tables.assess",
    "expected_curve": "expected.curve",
    "joint_from_samples": "expected.joint",
    "make_threshold_scorer": "estimators.threshold_scorer",
    "register_onnx": "estimators.onnx",
    "score": "metrics.score",
    "simulate_winners_curse": "honesty.winners_curse",
    "tune": "tuning.tune",
    "tune_table": "tables.tune",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: scipy takes long to import."""
    if name not in _HOME:
        raise AttributeError(f"module 'halfmax' has no attribute {name!r}")
    value = getattr(import_module(f"halfmax.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__version__"])
