"""Data, displays and helpers of the tests of displays."""

from contextlib import contextmanager

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate

import halfmax as hm
from halfmax.displays.assessed_score import AssessedScore

mpl.use("agg")

RNG = np.random.default_rng(0)
Y = RNG.random(300) < 0.2
S = 1 / (1 + np.exp(2 - RNG.normal(size=300) - 2 * Y))
NAMES = ["$a_b$ and $x", "<b>hi</b> & \\alpha", "x" * 300, "two\nlines"]
YY = RNG.random((300, 4)) < [0.3, 0.1, 0.05, 0.02]
SS = 1 / (1 + np.exp(-RNG.normal(size=YY.shape) - 2 * YY))
MODEL = LogisticRegression().fit(SS, Y)
CLASSES = np.where(Y, "yes", "no")
COST = hm.cost(fp=1, fn=4)
KEEP = {"return_estimator": True, "return_indices": True}
CV = cross_validate(LogisticRegression(), SS, CLASSES, cv=3, **KEEP)
CURVE, EXPECTED = hm.ThresholdCurveDisplay, hm.ExpectedCurveDisplay
HALF, HEALTH = hm.HalfMaxDisplay, hm.LabelHealthDisplay
REGION, CURSE = hm.DecisionRegionDisplay, hm.WinnersCurseDisplay
PR, COSTS = hm.PrecisionRecallDisplay, hm.CostCurveDisplay
LABEL_CURVES = {CURVE: (), PR: (), COSTS: (COST,)}  # and what each needs beside truth and scores
DISPLAYS = [CURVE, PR, COSTS, EXPECTED, HALF, HEALTH, REGION, CURSE, AssessedScore]
CREATE = {
    "curve": lambda **how: CURVE.from_predictions(Y, S, **how),
    "precision-recall": lambda **how: PR.from_predictions(Y, S, **how),
    "cost": lambda **how: COSTS.from_predictions(Y, S, COST, **how),
    "folds": lambda **how: CURVE.from_cv_results(CV, SS, CLASSES, **how),
    "expected": lambda **how: EXPECTED.from_probabilities(S, **how),
    "half-max": lambda **how: HALF.from_thresholds(hm.tune(YY, SS), **how),
    "health": lambda **how: HEALTH.from_predictions(YY, SS, **how),
    "region": lambda **how: REGION.from_densities(stats.norm(2), stats.norm(), 0.1, **how),
    "curse": lambda **how: CURSE.from_simulation(100, (0.1, 0.5), 20, **how),
    "assessed": lambda **how: AssessedScore.from_assessment(hm.assess(Y, S), **how),
}


def assert_same(one, other, but=()):
    """Both displays hold the same values, `but` those of these fields."""
    for name in set(one.__dataclass_fields__) - {"folds", *but}:
        np.testing.assert_equal(getattr(other, name), getattr(one, name), err_msg=name)
    parts = ((), ()) if "folds" in but else (getattr(d, "folds", ()) for d in (one, other))
    for own, others in zip(*parts, strict=True):
        assert_same(own, others, but)


@contextmanager
def undrawn(display):
    """Skip drawing, which takes longer than computing; other tests draw awkward data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(display, "plot", lambda self, _=None: self)
        yield


def texts(display):
    """All texts in the figure of a display."""
    found = display.figure_.findobj(mpl.text.Text)
    return [text.get_text() for text in found if text.get_text()]
