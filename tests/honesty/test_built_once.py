"""The expensive pass runs once per question: staircases are counted as they are built."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import halfmax as hm

rng = np.random.default_rng(0)
MANY = rng.random((300, 4)) < [0.4, 0.2, 0.1, 0.05]
ONE = MANY[:, 1]
SCORES = np.clip(0.2 * rng.normal(size=MANY.shape) + 0.3 + 0.3 * MANY, 0.0, 1.0)


@pytest.fixture
def built(monkeypatch):
    """The numbers of steps of all staircases built during the test."""
    found = []
    build = hm.Staircase.of_checked.__func__

    def of_checked(cls, *data):
        stairs = build(cls, *data)
        found.append(len(stairs.grid.scores))
        return stairs

    monkeypatch.setattr(hm.Staircase, "of_checked", classmethod(of_checked))
    return found


@pytest.mark.parametrize(("truth", "scores"), [(MANY, SCORES), (ONE, SCORES[:, 1])])
@pytest.mark.parametrize(
    ("call", "most"),
    [
        (hm.tune, 1),
        (lambda y, s: hm.tune(y, s, average="micro"), 1),
        (lambda y, s: hm.assess(y, s, n_resamples=5), 1),
        (lambda y, s: hm.assess(y, s, average="micro", n_resamples=5), 1),
        (lambda y, s: hm.diagnose(y, s, n_resamples=5), 3),
    ],
)
def test_a_question_builds_few_staircases(built, truth, scores, call, most):
    call(truth, scores)
    assert len(built) <= most


def test_fitting_builds_one_staircase(built):
    clf = hm.ThresholdClassifier(LogisticRegression(), cv=3).fit(SCORES, ONE)
    assert clf.staircase_.n_labels == 1
    assert len(built) == 1


@pytest.mark.parametrize(("truth", "scores"), [(MANY, SCORES), (ONE, SCORES[:, 1])])
@pytest.mark.parametrize("average", ["macro", "micro"])
def test_a_report_builds_few_staircases(built, tmp_path, truth, scores, average):
    pytest.importorskip("itables")
    tuned = hm.tune(truth, scores, average=average)
    tuned.report(tmp_path / "report.html", n_resamples=5)
    assert len(built) <= 6
