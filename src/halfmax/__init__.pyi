from halfmax._core.errors import HalfmaxWarning as HalfmaxWarning
from halfmax._core.errors import OptimismWarning as OptimismWarning
from halfmax.displays.cost_curve import CostCurveDisplay as CostCurveDisplay
from halfmax.displays.decision_region import DecisionRegionDisplay as DecisionRegionDisplay
from halfmax.displays.expected_curve import ExpectedCurveDisplay as ExpectedCurveDisplay
from halfmax.displays.half_max import HalfMaxDisplay as HalfMaxDisplay
from halfmax.displays.label_health import LabelHealthDisplay as LabelHealthDisplay
from halfmax.displays.precision_recall import PrecisionRecallDisplay as PrecisionRecallDisplay
from halfmax.displays.threshold_curve import ThresholdCurveDisplay as ThresholdCurveDisplay
from halfmax.displays.winners_curse import WinnersCurseDisplay as WinnersCurseDisplay
from halfmax.estimators.expected_f_classifier import ExpectedFClassifier as ExpectedFClassifier
from halfmax.estimators.onnx import register_onnx as register_onnx
from halfmax.estimators.threshold_classifier import ThresholdClassifier as ThresholdClassifier
from halfmax.estimators.threshold_scorer import make_threshold_scorer as make_threshold_scorer
from halfmax.expected.curve import expected_curve as expected_curve
from halfmax.expected.decide import decide as decide
from halfmax.expected.decide_joint import JointDecision as JointDecision
from halfmax.expected.decide_joint import decide_joint as decide_joint
from halfmax.expected.decision import Decision as Decision
from halfmax.expected.joint import joint_from_samples as joint_from_samples
from halfmax.honesty.assess import assess as assess
from halfmax.honesty.assessment import Assessment as Assessment
from halfmax.honesty.diagnose import diagnose as diagnose
from halfmax.honesty.diagnosis import Diagnosis as Diagnosis
from halfmax.honesty.winners_curse import simulate_winners_curse as simulate_winners_curse
from halfmax.metrics.cost import cost as cost
from halfmax.metrics.metric import FBeta as FBeta
from halfmax.metrics.metric import LinearFractional as LinearFractional
from halfmax.metrics.metric import Metric as Metric
from halfmax.metrics.score import score as score
from halfmax.regions.find import decision_region as decision_region
from halfmax.regions.region import DecisionRegion as DecisionRegion
from halfmax.staircase.grid import Grid as Grid
from halfmax.staircase.staircase import Staircase as Staircase
from halfmax.tables.apply import apply_table as apply_table
from halfmax.tables.assess import assess_table as assess_table
from halfmax.tables.assess import diagnose_table as diagnose_table
from halfmax.tables.decide import TableDecision as TableDecision
from halfmax.tables.decide import decide_table as decide_table
from halfmax.tables.tune import tune_table as tune_table
from halfmax.tables.written import Written as Written
from halfmax.tuning.thresholds import Thresholds as Thresholds
from halfmax.tuning.tune import tune as tune

__version__: str

__all__ = [
    "Assessment",
    "CostCurveDisplay",
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
    "PrecisionRecallDisplay",
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
    "cost",
    "decide",
    "decide_joint",
    "decide_table",
    "decision_region",
    "diagnose",
    "diagnose_table",
    "expected_curve",
    "joint_from_samples",
    "make_threshold_scorer",
    "register_onnx",
    "score",
    "simulate_winners_curse",
    "tune",
    "tune_table",
]
