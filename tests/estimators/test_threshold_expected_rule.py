"""`ThresholdClassifier` with rule="expected" decides on the batch passed to predict."""

import numpy as np
import pytest
from classifier_cases import EACH, FOLDS, NB, XM, YM, X, Y, threshold
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.metrics import f1_score
from sklearn.model_selection import (
    cross_val_predict,
)

import halfmax as hm


@pytest.mark.parametrize("metric", ["f1", "f2"])
@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_the_expected_rule_decides_on_the_batch(average, metric):
    model = threshold(EACH, rule="expected", metric=metric, average=average, cv=FOLDS)
    model.fit(XM, YM)
    for batch in (XM, XM[:7], XM[:1]):
        decision = hm.decide(model.predict_proba(batch), metric, average)
        assert_array_equal(model.predict(batch), decision.predictions)
    pooled = cross_val_predict(EACH, XM, YM, cv=FOLDS, method="predict_proba")
    decision = hm.decide(pooled, metric, average)
    assert model.score_ == model.expected_score_
    assert model.score_ == hm.score(YM, decision.predictions, metric, average)
    assert model.assessment_ is None
    assert hasattr(model, "thresholds_") == (average != "samples")
    if average != "samples":
        assert_array_equal(model.thresholds_, np.full(4, decision.thresholds))


@pytest.mark.parametrize("average", ["macro", "samples"])
def test_the_expected_rule_of_two_classes(average):
    model = threshold(rule="expected", average=average).fit(X, Y)
    decision = hm.decide(model.predict_proba(X)[:, 1])
    assert_array_equal(model.predict(X), decision.predictions)
    pooled = cross_val_predict(NB, X, Y, method="predict_proba")[:, 1]
    assert model.threshold_ == hm.decide(pooled).threshold
    assert model.score_ == f1_score(Y, hm.decide(pooled).predictions)


def test_the_expected_rule_of_the_other_class():
    model = threshold(rule="expected", pos_label=0).fit(X, Y)
    decision = hm.decide(model.predict_proba(X)[:, 0])
    assert_array_equal(model.predict(X), 1 - decision.predictions)


def test_a_row_is_predicted_among_hopeless_ones_and_not_among_better_ones():
    model = threshold(rule="expected").fit(X, Y)
    p = model.predict_proba(X)[:, 1]
    row = int(np.argmin(np.abs(p - 0.3)))
    hopeless, better = np.argsort(p)[:20], np.argsort(-p)[:20]
    assert model.predict(X[[row, *hopeless]])[0] == 1
    assert model.predict(X[[row, *better]])[0] == 0
    assert model.predict(X[[row]])[0] == 1  # a batch of one has nothing to lose


def test_rows_are_batches_of_their_own_under_samples():
    model = threshold(EACH, rule="expected", average="samples", cv=FOLDS).fit(XM, YM)
    alone = np.vstack([model.predict(XM[[i]]) for i in range(len(XM))])
    assert_array_equal(alone, model.predict(XM))
    together = threshold(EACH, rule="expected", average="macro", cv=FOLDS).fit(XM, YM)
    alone = np.vstack([together.predict(XM[[i]]) for i in range(len(XM))])
    assert (alone != together.predict(XM)).any()


def test_the_expected_rule_with_labels_without_positives_in_a_fold():
    y = YM.copy()
    y[:, 2] = 0
    y[5, 2] = 1  # the only one, so the fold that holds it out has fitted on none
    with pytest.warns(UserWarning, match="Label not 2 is present in all training examples"):
        model = threshold(EACH, rule="expected", cv=FOLDS).fit(XM, y)
    pooled = np.zeros(y.shape)
    for k, (train, test) in enumerate(FOLDS):
        columns = [0, 1, 3] if k == 0 else [0, 1, 2, 3]
        fitted = clone(EACH).fit(XM[train], y[train][:, columns])
        pooled[np.ix_(test, columns)] = fitted.predict_proba(XM[test])
    assert model.score_ == hm.score(y, hm.decide(pooled).predictions)
