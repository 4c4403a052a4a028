"""scikit-learn's own checks of estimators, for every kind of estimator inside."""

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import halfmax as hm

AT_HALF = "asserts that predict cuts scores at 0 or probabilities at 0.5, which tuning replaces"
BOOTSTRAP = "a forest draws other rows for two copies of a row than for one of weight 2"
NO_WEIGHTS = "fit of OneVsRestClassifier takes no weights: they count in tuning only"
BATCH = "the best decision on a row depends on the rows that it is decided on with"

CUTS = {"check_classifiers_train": AT_HALF}
LABELS = {"check_classifier_multioutput": AT_HALF}


def unequal_weights(reason):
    return {
        f"check_sample_weight_equivalence_on_{data}_data": reason for data in ("dense", "sparse")
    }


MODELS = [
    (hm.ThresholdClassifier(LogisticRegression()), CUTS),
    (
        hm.ThresholdClassifier(RandomForestClassifier(5, random_state=0)),
        CUTS | LABELS | unequal_weights(BOOTSTRAP),
    ),
    (
        hm.ThresholdClassifier(OneVsRestClassifier(LogisticRegression()), cv=3),
        CUTS | LABELS | unequal_weights(NO_WEIGHTS),
    ),
    (
        hm.ThresholdClassifier(Ridge(), cv=3),
        CUTS | LABELS | {"check_classifiers_classes": AT_HALF},
    ),
    (
        hm.ThresholdClassifier(LogisticRegression(), rule="expected", cv=3),
        CUTS | {"check_methods_subset_invariance": BATCH},
    ),
    (hm.ThresholdClassifier(LogisticRegression(), thresholds=0.5), {}),
    (hm.ThresholdClassifier(LogisticRegression(), thresholds=[0.3], metric="mcc"), CUTS),
    (
        hm.ThresholdClassifier(LogisticRegression(), response_method="predict_log_proba"),
        CUTS,
    ),
    (
        hm.ThresholdClassifier(LogisticRegression(), max_predicted=0.4, metric="youden"),
        CUTS | {"check_classifiers_classes": AT_HALF},
    ),
]


def reasons(model):
    return next(known for one, known in MODELS if repr(one) == repr(model))


@pytest.mark.filterwarnings("ignore:fit of OneVsRestClassifier takes no sample_weight")
@parametrize_with_checks([model for model, _ in MODELS], expected_failed_checks=reasons)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
