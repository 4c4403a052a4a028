"""Data, displays and helpers of the tests of displays."""

from contextlib import contextmanager

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

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
CURVE, EXPECTED = hm.ThresholdCurveDisplay, hm.ExpectedCurveDisplay
HALF, HEALTH = hm.HalfMaxDisplay, hm.LabelHealthDisplay
REGION, CURSE = hm.DecisionRegionDisplay, hm.WinnersCurseDisplay
DISPLAYS = [CURVE, EXPECTED, HALF, HEALTH, REGION, CURSE, AssessedScore]
CREATE = {
    "curve": lambda **how: CURVE.from_predictions(Y, S, **how),
    "expected": lambda **how: EXPECTED.from_probabilities(S, **how),
    "half-max": lambda **how: HALF.from_thresholds(hm.tune(YY, SS), **how),
    "health": lambda **how: HEALTH.from_predictions(YY, SS, **how),
    "region": lambda **how: REGION.from_densities(stats.norm(2), stats.norm(), 0.1, **how),
    "curse": lambda **how: CURSE.from_simulation(100, (0.1, 0.5), 20, **how),
    "assessed": lambda **how: AssessedScore.from_assessment(hm.assess(Y, S), **how),
}


def assert_same(one, other):
    """Both displays hold the same values."""
    for name in one.__dataclass_fields__:
        np.testing.assert_equal(getattr(other, name), getattr(one, name), err_msg=name)


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
