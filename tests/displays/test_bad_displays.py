"""Bad input of displays is refused with helpful messages."""

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pytest
from display_cases import (
    CLASSES,
    COST,
    COSTS,
    CREATE,
    CURSE,
    CURVE,
    CV,
    EXPECTED,
    HALF,
    HEALTH,
    MODEL,
    NAMES,
    PR,
    REGION,
    SS,
    YY,
    S,
    Y,
    assert_same,
)
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

import halfmax as hm

pytestmark = pytest.mark.usefixtures("close_figures")

TUNED = hm.tune(YY, SS, labels=NAMES)
MODELS = OneVsRestClassifier(LogisticRegression()).fit(SS, YY)
ROWS = hm.cost(fp=1, fn=np.arange(1.0, 301.0))
UNPICKLED = pickle.loads(pickle.dumps(TUNED))
BAD = [
    (lambda: CURVE.from_predictions(YY, SS), ValueError, "label must say which of the 4 labels"),
    (
        lambda: CURVE.from_predictions(YY, SS, label=4),
        ValueError,
        "label must be from 0 to 3; got 4",
    ),
    (lambda: CURVE.from_thresholds(TUNED, "cat"), ValueError, r"label must be .* got 'cat'"),
    (lambda: CURVE.from_thresholds(UNPICKLED, NAMES[0]), ValueError, "do not know the data"),
    (
        lambda: CURVE.from_thresholds(0.5),
        TypeError,
        "thresholds must be what tune returns; got float",
    ),
    (lambda: CURVE.from_predictions(Y, S, threshold="a"), ValueError, "threshold must be a number"),
    (lambda: CURVE.from_predictions(Y, S, threshold=np.nan), ValueError, "threshold must be a num"),
    (lambda: CURVE.from_predictions(Y, S, threshold=[1, 2]), ValueError, "threshold must be a num"),
    (
        lambda: CURVE.from_predictions(Y, S, ROWS),
        ValueError,
        "costs for each row, which counts cannot show: use CostCurveDisplay, or one number",
    ),
    (lambda: CURVE.from_thresholds(hm.tune(Y, S, ROWS)), ValueError, "use CostCurveDisplay"),
    (lambda: PR.from_predictions(Y, S, ROWS), ValueError, "use CostCurveDisplay"),
    (lambda: PR.from_predictions(YY, SS), ValueError, "label must say which of the 4 labels"),
    (lambda: PR.from_thresholds(UNPICKLED, NAMES[0]), ValueError, "do not know the data"),
    (lambda: PR.from_predictions(Y, S, threshold="a"), ValueError, "threshold must be a number"),
    (lambda: PR.from_predictions(Y, S, "F1"), ValueError, "use metric='f1'"),
    (lambda: PR.from_predictions(Y, S, zero_division=2), ValueError, "zero_division must be"),
    (lambda: PR.from_predictions(Y, S, ax=3), TypeError, "ax must be matplotlib Axes"),
    (lambda: PR.from_estimator(None, SS, Y), TypeError, "estimator must be"),
    (
        lambda: COSTS.from_predictions(Y, S),
        ValueError,
        "metric must be a cost.*got 'f1': for other metrics use ThresholdCurveDisplay",
    ),
    (lambda: COSTS.from_thresholds(hm.tune(Y, S)), ValueError, "metric must be a cost"),
    (
        lambda: COSTS.from_predictions(Y[:9], S[:9], ROWS),
        ValueError,
        "a cost for each of the 9 rows; got 300",
    ),
    (
        lambda: COSTS.from_predictions(YY, SS, ROWS, label=0),
        ValueError,
        "costs for each row, which is for one classifier",
    ),
    (
        lambda: COSTS.from_predictions(Y, np.full(300, -np.inf), ROWS),
        ValueError,
        "y_score must have a finite score",
    ),
    (
        lambda: COSTS.from_cv_results(CV, SS, CLASSES, hm.cost(fp=1, fn=[1, 2])),
        ValueError,
        "a cost for each of the 300 rows; got 2",
    ),
    (lambda: CURVE.from_predictions(Y, S, level=95), ValueError, "level must be a number above 0"),
    (lambda: CURVE.from_predictions(Y, S, n_resamples=-1), ValueError, "n_resamples must be"),
    (lambda: CURVE.from_predictions(Y, S, seed=0.5), ValueError, "seed must be a whole number"),
    (lambda: CURVE.from_predictions(Y, S, "F1"), ValueError, "use metric='f1'"),
    (lambda: CURVE.from_predictions(Y, S[:3]), ValueError, "must have the same shape"),
    (lambda: CURVE.from_predictions(Y, S, ax=3), TypeError, "ax must be matplotlib Axes"),
    (lambda: CURVE.from_predictions(Y, S, ax=np.array([3])), TypeError, "pass one of them"),
    (lambda: CURVE.from_estimator(None, S[:, None], Y), TypeError, "estimator must be"),
    (lambda: CURVE.from_estimator(MODEL, SS[:-3], Y), ValueError, "297 rows in X and 300 in y"),
    (lambda: CURVE.from_estimator(MODEL, SS, Y[:-3]), ValueError, "300 rows in X and 297 in y"),
    (lambda: CURVE.from_estimator(MODELS, SS[:-3], YY), ValueError, "297 rows in X and 300 in y"),
    (lambda: CURVE.from_estimator(MODELS, SS, YY[:-3]), ValueError, "300 rows in X and 297 in y"),
    (lambda: CURVE.from_estimator(MODEL, SS, None), ValueError, "requires y to be passed"),
    (
        lambda: CURVE.from_estimator(MODEL, SS, Y, sample_weight=[1, 2]),
        ValueError,
        "sample_weight must hold one weight for each of the 300 rows",
    ),
    (lambda: EXPECTED.from_probabilities(S * 3), ValueError, "p must be probabilities"),
    (lambda: EXPECTED.from_probabilities(SS), ValueError, "p must have 1 dimension"),
    (lambda: HALF.from_thresholds(hm.tune(YY, 9 * SS)), ValueError, "scores must be probabilities"),
    (lambda: HALF.from_predictions(YY, 9 * SS), ValueError, "scores must be probabilities"),
    (lambda: HALF.from_thresholds(hm.tune(YY, SS, average="samples")), ValueError, "'samples'"),
    (lambda: HALF.from_thresholds(hm.tune(YY, SS, per_label=False)), ValueError, "per_label=False"),
    (
        lambda: HALF.from_predictions(YY, SS, hm.Metric("own", lambda tp, *_: tp)),
        ValueError,
        "metric must be a ratio",
    ),
    *(
        (lambda metric=metric: HALF.from_predictions(YY, SS, metric), ValueError, "no law gives")
        for metric in ("mcc", "gmean", "fowlkes_mallows")
    ),
    (lambda: HALF.from_predictions(Y, S, ROWS), ValueError, "metric must be a ratio"),
    (lambda: HALF.from_thresholds(hm.tune(YY, SS, "mcc")), ValueError, "no law gives.*'mcc'"),
    (lambda: HALF.from_diagnosis(hm.diagnose(YY, SS, "mcc")), ValueError, "no law gives.*'mcc'"),
    (
        lambda: HALF.from_thresholds(hm.tune(YY, 9 * SS, COST)),
        ValueError,
        r"compared with the fp/\(fp \+ fn\)",
    ),
    (
        lambda: HALF.from_thresholds(pickle.loads(pickle.dumps(hm.tune(YY, SS, "kappa")))),
        ValueError,
        "n_rows must be passed",
    ),
    (
        lambda: HALF.from_thresholds(hm.tune(YY, SS, average="weighted", per_label=False)),
        ValueError,
        "average='weighted' with per_label=False",
    ),
    (lambda: HALF.from_diagnosis(TUNED), TypeError, "diagnosis must be what diagnose returns"),
    (lambda: HALF.from_decision(TUNED), TypeError, "decision must be what decide returns"),
    (lambda: HEALTH.from_thresholds(UNPICKLED), ValueError, "n_rows must be passed"),
    (lambda: HEALTH.from_thresholds(UNPICKLED, 3), ValueError, "n_rows must be the number of rows"),
    (lambda: HEALTH.from_thresholds(UNPICKLED, "x"), ValueError, "n_rows must be the number"),
    (lambda: HEALTH.from_diagnosis(None), TypeError, "got NoneType"),
    (lambda: HEALTH.from_predictions(YY, SS, ROWS), ValueError, "which is for one classifier"),
    (lambda: HEALTH.from_predictions(YY, SS, average=None), ValueError, "use average='macro'"),
    (lambda: HEALTH.from_estimator(None, SS, Y), TypeError, "estimator must be"),
    (lambda: HEALTH.from_predictions(YY, SS, guard="x"), ValueError, "guard must be"),
    (lambda: REGION.from_region(None), TypeError, "region must be what decision_region returns"),
    (
        lambda: REGION.from_densities(stats.norm(1), stats.norm(), 2),
        ValueError,
        "base_rate must be",
    ),
    (
        lambda: CREATE["region"](ax=plt.subplots(3)[1]),
        ValueError,
        "ax must be one Axes or two, densities and odds; got 3",
    ),
    (lambda: CURSE.from_simulation(0, 0.1, 10), ValueError, "n must be a whole number"),
    (lambda: CURSE.from_simulation(10, (0.1, 2), 10), ValueError, "base_rate must be"),
    (
        lambda: CURSE(10, (0.1, 0.2), np.zeros((3, 5))),
        ValueError,
        "a row of runs for each of the 2",
    ),
    (lambda: CURSE(10, (0.1,), [[3, 4]]), ValueError, "fractions must be from 0 to 1"),
    (
        lambda: CREATE["curse"](ax=plt.figure().add_axes((0.1, 0.1, 0.5, 0.5))),
        ValueError,
        "ax must be made by subplots",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD)
def test_bad_input_is_refused_with_helpful_messages(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_thresholds_without_data_can_be_drawn_with_it_or_with_the_number_of_rows():
    shown = HEALTH.from_thresholds(UNPICKLED, n_rows=300)
    assert_same(shown, HEALTH.from_thresholds(TUNED))
    by_hand = CURVE.from_predictions(YY[:, 0], SS[:, 0], threshold=UNPICKLED.thresholds[0])
    known = CURVE.from_thresholds(TUNED, NAMES[0])
    known.label = None
    assert_same(by_hand, known)
