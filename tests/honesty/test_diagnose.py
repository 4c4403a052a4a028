"""Each finding follows its rule, on healthy, sick and awkward labels."""

import numpy as np
import pytest
from diagnose_cases import INF, NAMES, calibrated, diagnosis_of_herd, herd, of
from numpy.testing import assert_array_equal
from scipy.special import expit, logit
from strategies import compiled

import halfmax as hm


@pytest.fixture(scope="module")
def sick():
    return diagnosis_of_herd()


def test_labels_of_every_kind(sick):
    assert of(sick, "strong") == set()
    assert "uninformative" in of(sick, "noise")
    assert "too few positives" not in of(sick, "noise")
    assert {"uninformative", "too few positives", "unstable threshold"} <= of(sick, "rare")
    assert {"uninformative", "flooding", "too few positives"} <= of(sick, "constant")
    assert of(sick, "empty") == {"uninformative", "too few positives"}
    assert of(sick, "full") == {"uninformative"}


@compiled
@pytest.mark.parametrize("seed", range(3))
def test_noise_among_strong_labels_is_found(seed):
    rng = np.random.default_rng(seed)
    y = rng.random((1000, 60)) < 0.1
    strong = np.arange(60) % 3 > 0
    s = rng.normal(size=y.shape) + 2.0 * strong * y
    found = hm.diagnose(y, s, n_resamples=5).labels_with("uninformative")
    wrongly = set(found) - set(np.flatnonzero(~strong))
    missed = set(np.flatnonzero(~strong)) - set(found)
    assert not wrongly
    assert len(missed) <= 4  # of about 40 informative labels 5 % may be noise


@compiled
def test_noise_alone_is_hardly_ever_called_informative():
    rng = np.random.default_rng(1)
    informative = 0
    for _ in range(20):
        y = rng.random((300, 50)) < rng.choice([0.01, 0.1, 0.5])
        d = hm.diagnose(y, rng.normal(size=y.shape), n_resamples=2)
        informative += d.counts["uninformative"] < 50
    assert informative <= 4


@pytest.mark.parametrize(
    ("n", "support", "too_few"), [(100, 9, True), (100, 10, False), (101, 10, True), (1, 1, False)]
)
def test_too_few_positives_is_below_the_root_of_the_rows(n, support, too_few):
    y = np.arange(n) < support
    d = hm.diagnose(y, -np.arange(n, dtype=float))
    assert ("too few positives" in d.findings[0]) == too_few


@pytest.mark.parametrize(
    ("positives", "rows", "floods"),
    [(2, 51, True), (2, 50, False), (5, 51, True), (6, 60, False), (6, 61, True), (2, 20, False)],
)
def test_flooding_is_a_twentieth_of_rows_and_ten_times_the_positives(positives, rows, floods):
    n = 1000
    y = np.arange(n) < positives
    s = np.where(np.arange(n) < rows, 1.0, 0.0)
    d = hm.diagnose(y, s)
    assert d.predicted[0] == rows
    assert ("flooding" in d.findings[0]) == floods


@compiled
def test_a_sure_threshold_is_stable_and_one_of_noise_is_not():
    rng = np.random.default_rng(0)
    y = rng.random((2000, 20)) < [0.01] * 10 + [0.2] * 10
    s = rng.normal(size=y.shape) + ([0.3] * 10 + [4.0] * 10) * y
    unstable = set(hm.diagnose(y, s).labels_with("unstable threshold"))
    assert len(unstable & set(range(10))) >= 8
    assert not unstable & set(range(10, 20))


@compiled
@pytest.mark.parametrize(
    ("n", "base", "sharp"),
    [(300, 0.02, 0.5), (300, 0.4, 5.0), (2000, 0.003, 0.5), (2000, 0.1, 2.0), (50, 0.3, 1.0)],
)
def test_true_probabilities_are_hardly_ever_miscalibrated(n, base, sharp):
    y, p = calibrated(n, 60, base, sharp)
    assert hm.diagnose(y, p).counts["miscalibrated"] <= 6


@pytest.mark.parametrize("seed", range(3))
def test_well_separated_labels_are_not_miscalibrated(seed):
    # all thresholds between the scores of positives and negatives are equivalent, half of F1 too
    rng = np.random.default_rng(seed)
    y = rng.random((400, 10)) < 0.2
    s = np.where(y, 0.9, 0.02) + 0.02 * rng.random(y.shape)
    d = hm.diagnose(y, s)
    assert d.counts["miscalibrated"] == 0
    assert (d.half_max == 0.5).all()


@compiled
@pytest.mark.parametrize(
    "spoil",
    [lambda p: expit(logit(p) / 3), lambda p: p**2, lambda p: p**3, lambda p: 0.5 + p / 2],
    ids=["squashed", "too low", "much too low", "too high"],
)
def test_probabilities_that_are_off_are_miscalibrated(spoil):
    y, p = calibrated(2000, 30, 0.1, 2.0)
    d = hm.diagnose(y, spoil(p))
    assert d.counts["miscalibrated"] >= 27
    assert "calibrate before" in repr(d)


@compiled
def test_overconfident_probabilities_are_miscalibrated():
    y, p = calibrated(2000, 30, 0.1, 0.7)
    assert hm.diagnose(y, expit(3 * logit(p))).counts["miscalibrated"] >= 27


def with_one_beyond(p):
    p = p.copy()
    p[3, 1] = 1.0001
    return p


@pytest.mark.parametrize("change", [lambda p: 100 * p, logit, lambda p: p - 0.01, with_one_beyond])
def test_calibration_of_other_scores_is_not_judged_and_the_result_says_so(change):
    y, p = calibrated(500, 5, 0.2, 2.0)
    d = hm.diagnose(y, change(p**4), n_resamples=20)
    assert not d.probabilities
    assert d.counts["miscalibrated"] == 0
    for text in (repr(d), d._repr_html_()):
        assert "Scores are not probabilities (0 to 1), so calibration is not judged" in text


def test_calibration_of_scores_from_0_to_1_is_judged_without_a_caveat():
    y, p = calibrated(500, 5, 0.2, 2.0)
    assert "not judged" not in repr(hm.diagnose(y, p, n_resamples=20))


def test_good_accuracy_without_predictions_is_not_miscalibrated():
    rng = np.random.default_rng(0)
    y, p = rng.random((400, 5)) < 0.05, 0.1 * rng.random((400, 5))
    d = hm.diagnose(y, p, "accuracy", n_resamples=20)
    assert (d.thresholds == INF).all()
    assert d.counts["miscalibrated"] == 0


# Awkward data: right answers or clear findings, and no division warning (pytest makes it an error).


AWKWARD = {
    "no positive": ([0] * 30, np.arange(30.0), {"uninformative", "too few positives"}),
    "one positive, on top": ([0] * 99 + [1], np.arange(100.0), {"too few positives"}),
    "one positive, on top of few": (
        [0] * 29 + [1],  # chance 1 in 30, and two tests
        np.arange(30.0),
        {"uninformative", "too few positives"},
    ),
    "one positive, at the bottom": (
        [1] + [0] * 29,
        np.arange(30.0),
        {"uninformative", "too few positives", "flooding", "unstable threshold"},
    ),
    "all positive": ([1] * 30, np.arange(30.0), {"uninformative"}),
    "constant": ([0, 1] * 15, np.full(30, 5.0), {"uninformative"}),
    "probabilities of 0": ([0, 1] * 15, np.zeros(30), {"uninformative", "miscalibrated"}),
    "probabilities of a half": ([0, 1] * 15, np.full(30, 0.5), {"uninformative"}),
    "never predicted": ([0, 1] * 9, np.full(18, -INF), {"uninformative"}),
    "two rows": ([0, 1], [0.1, 0.9], {"uninformative", "too few positives"}),
    "two rows, tied": ([0, 1], [0.5, 0.5], {"uninformative", "too few positives"}),
    "two rows, none": ([0, 0], [0.5, 0.5], {"uninformative", "too few positives"}),
    "two rows, both": ([1, 1], [0.5, 0.6], {"uninformative"}),
    "one row, positive": ([1], [0.5], {"uninformative"}),
    "one row, negative": ([0], [0.5], {"uninformative", "too few positives"}),
}


@pytest.mark.parametrize("case", AWKWARD)
@pytest.mark.parametrize("columns", [0, 1, 3])
def test_awkward_data_have_clear_findings(case, columns):
    y, s, expected = AWKWARD[case]
    y, s = np.asarray(y), np.asarray(s, float)
    if columns:
        y, s = np.tile(y[:, None], columns), np.tile(s[:, None], columns)
    d = hm.diagnose(y, s)
    for found in d.findings:
        assert set(found) - {"unstable threshold"} == expected - {"unstable threshold"}
    for label in d.labels:
        assert d.explain(label)
    assert "nan" not in repr(d).lower()
    assert d._repr_html_()
    assert np.isfinite(d.expected_scores).all()


@pytest.mark.parametrize("zero_division", [0.0, 0.5, 1.0])
def test_labels_without_positives_for_every_zero_division(zero_division):
    y, s = np.zeros((40, 3), int), np.random.default_rng(0).random((40, 3))
    d = hm.diagnose(y, s, zero_division=zero_division)
    assert (d.thresholds == INF).all()
    assert set(d.findings) == {("uninformative", "too few positives")}
    assert_array_equal(d.scores, zero_division)


def test_labels_without_positives_may_be_left_out_of_the_mean():
    y, s = herd(200)
    d = hm.diagnose(y, s, zero_division=np.nan, labels=NAMES, n_resamples=20)
    assert of(d, "empty") == {"uninformative", "too few positives"}
    assert np.isnan(d.scores[d.labels.index("empty")])
    assert of(d, "strong") == set()


def test_all_labels_without_positives_may_be_left_out_of_the_mean():
    d = hm.diagnose(np.zeros((40, 3)), np.ones((40, 3)), zero_division=np.nan)
    assert d.counts["uninformative"] == 3


def test_many_positives_that_no_threshold_reaches():
    d = hm.diagnose([0, 1] * 40, np.full(80, -INF))
    assert "uninformative" in d.findings[0]


# Options.


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"n_resamples": 0}, ValueError, "n_resamples"),
        ({"level": 1.0}, ValueError, "level"),
        ({"level": "high"}, ValueError, "level"),
        ({"seed": -1}, ValueError, "seed"),
        ({"zero_division": 2.0}, ValueError, "zero_division"),
        ({"metric": "f-one"}, ValueError, "metric"),
        ({"labels": ["a"]}, ValueError, "labels must name each of the 6 labels; got 1"),
        ({"labels": "abcdef"}, TypeError, "labels must be a sequence of names"),
        ({"labels": list("aabcde")}, ValueError, "labels must not repeat"),
        ({"progress": 3}, TypeError, "progress"),
        ({"sample_weight": [1]}, TypeError, "sample_weight"),
    ],
)
def test_bad_options_are_refused_by_name(options, error, text):
    with pytest.raises(error, match=text):
        hm.diagnose(*herd(50), **options)


@pytest.mark.parametrize(
    ("y", "s", "text"),
    [
        ([0, 1], [0.5, np.nan], "y_score must be finite"),
        ([0, 1, 2], [0.5, 0.5, 0.5], "y_true must hold two classes"),
        ([0, 1, 1], [0.5, 0.5], "same shape"),
    ],
)
def test_bad_data_are_refused(y, s, text):
    with pytest.raises(ValueError, match=text):
        hm.diagnose(y, s)


def test_progress_is_reported():
    reports = []
    hm.diagnose(
        *herd(100), n_resamples=10, progress=lambda done, total: reports.append((done, total))
    )
    assert reports
    assert reports[-1][0] == reports[-1][1]
