"""Which labels will misbehave: each number against a slow one, each finding against its rule."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit, logit
from strategies import compiled, many_labels, to_sparse
from surroundings import counting_calls

import halfmax as hm

FINDINGS = (
    "uninformative",
    "flooding",
    "too few positives",
    "unstable threshold",
    "miscalibrated",
)
COLUMNS = [
    "label",
    "support",
    "base_rate",
    "threshold",
    "low",
    "high",
    "score",
    "expected",
    "everyone",
    "predicted",
    "findings",
]
INF = np.inf


def herd(n=2000, seed=0):
    """Labels of every kind: strong, noise, rare noise, one score for all, empty and full."""
    rng = np.random.default_rng(seed)
    y = rng.random((n, 6)) < [0.3, 0.2, 0.003, 0.01, 0.0, 1.0]
    s = rng.normal(size=(n, 6)) + [4, 0, 0, 0, 0, 0] * y
    s[:, 3] = 0.5
    return y.astype(int), s


NAMES = ("strong", "noise", "rare", "constant", "empty", "full")


def of(diagnosis, label):
    """The findings of one label."""
    return set(diagnosis.findings[diagnosis.labels.index(label)])


@pytest.fixture(scope="module")
def sick():
    return hm.diagnose(*herd(), labels=NAMES)


# The numbers.


def f1(y, predicted):
    hits = int((y & predicted).sum())
    either = int(y.sum() + predicted.sum())
    return 2 * hits / either if either else 0.0


def check_against_slow_numbers(y, s, d, assessed, tuned):
    y, s = np.asarray(y, bool), np.asarray(s, float)
    n, low, high = len(y), *assessed.threshold_interval
    score_low, _ = assessed.label_score_intervals
    probabilities = s[s > -INF].size > 0 and all(0 <= x <= 1 for x in s[s > -INF])
    assert d.probabilities == probabilities
    assert d.n_rows == n
    assert sorted(d.labels) == list(range(y.shape[1]))
    assert len(d.findings) == y.shape[1]
    keys = []
    for place, j in enumerate(d.labels):
        support = sum(map(int, y[:, j]))
        threshold = tuned.thresholds[j]
        predicted = (s[:, j] >= threshold) & (s[:, j] > -INF)
        assert d.support[place] == support
        assert d.base_rate[place] == support / n
        assert d.thresholds[place] == threshold
        assert d.predicted[place] == predicted.sum()
        assert d.scores[place] == pytest.approx(f1(y[:, j], predicted))
        assert d.scores[place] == tuned.label_scores[j]
        assert d.expected_scores[place] == assessed.label_expected_scores[j]
        assert d.threshold_interval[0][place] == low[j]
        assert d.threshold_interval[1][place] == high[j]
        assert d.everyone[place] == pytest.approx(2 * d.base_rate[place] / (1 + d.base_rate[place]))
        rows = {cut: int(((s[:, j] >= cut) & (s[:, j] > -INF)).sum()) for cut in (low[j], high[j])}
        most, fewest = rows[low[j]], rows[high[j]]
        found = set(d.findings[place])
        flooding = predicted.sum() > 0.05 * n and predicted.sum() > 10 * support
        assert ("flooding" in found) == flooding
        assert ("too few positives" in found) == (support**2 < n)
        assert ("unstable threshold" in found) == (most > 3 * max(fewest, 1))
        half = d.scores[place] / 2
        assert d.half_max[place] == half if half > 0 else np.isnan(d.half_max[place])
        at_half = int((s[:, j] >= half).sum())
        at_lowest = int((s[:, j] >= score_low[j] / 2).sum())
        elsewhere = min(at_half, at_lowest) > most or max(at_half, at_lowest) < fewest
        assert ("miscalibrated" in found) == (probabilities and half > 0 and elsewhere)
        harm = -int(predicted.sum()) if flooding else 0
        keys.append((harm, -(d.scores[place] - d.expected_scores[place])))
        assert d.findings[place] == tuple(name for name in FINDINGS if name in found)
    assert keys == sorted(keys)


@settings(max_examples=40)
@given(many_labels(dtypes=[np.float64], kinds=["none"]), st.integers(0, 3))
def test_every_number_is_what_a_slow_computation_gives(case, seed):
    options = {"n_resamples": 20, "seed": seed}
    check_against_slow_numbers(
        case.y,
        case.s,
        hm.diagnose(case.y, case.s, **options),
        hm.assess(case.y, case.s, **options),
        hm.tune(case.y, case.s),
    )


@pytest.mark.parametrize("squashed", [False, True])
def test_every_number_of_labels_of_every_kind(squashed):
    y, s = herd(600)
    s = expit(s) if squashed else s
    options = {"n_resamples": 50, "level": 0.8, "seed": 3}
    check_against_slow_numbers(
        y, s, hm.diagnose(y, s, **options), hm.assess(y, s, **options), hm.tune(y, s)
    )


@pytest.mark.parametrize("metric", ["f2", "f0.5", "jaccard", "accuracy", "precision", "recall"])
def test_everyone_is_the_score_of_predicting_everyone(metric):
    y, s = herd(300)
    d = hm.diagnose(y, s, metric, n_resamples=5)
    order = list(d.labels)
    for place, j in enumerate(order):
        everyone = hm.score(y[:, j], np.ones(len(y), int), metric)
        assert d.everyone[place] == pytest.approx(everyone)
    assert_array_equal(d.thresholds, hm.tune(y, s, metric).thresholds[order])
    assert d.metric == metric


@pytest.mark.parametrize(
    ("metric", "cut"),
    [
        ("f1", lambda f: f / 2),
        ("f2", lambda f: f / 5),
        ("jaccard", lambda f: f / (1 + f)),
        ("accuracy", lambda f: 0 * f + 0.5),
    ],
)
def test_half_max_is_the_cut_of_calibrated_probabilities(metric, cut):
    y, s = herd(300)
    d = hm.diagnose(y[:, :4], s[:, :4], metric, n_resamples=5)
    assert_allclose(d.half_max, cut(d.scores))


def test_a_metric_of_ones_own_has_no_half_max_and_is_not_judged_by_it():
    y, s = herd(300)
    metric = hm.Metric("mine", lambda tp, fp, fn, _tn: tp / (tp + fp + fn))
    d = hm.diagnose(y[:, :4], expit(s[:, :4]), metric, n_resamples=5)
    assert np.isnan(d.half_max).all()
    assert d.counts["miscalibrated"] == 0


def test_the_order_is_flooded_rows_first_and_then_what_new_data_will_not_show():
    rng = np.random.default_rng(0)
    n = 500
    y = np.zeros((n, 4), int)
    y[:3, 0] = y[:2, 1] = 1
    y[:10, 2] = y[:200, 3] = 1
    s = np.empty((n, 4))
    s[:, 0] = np.where(np.arange(n) < 100, 1.0, 0.0)  # floods 100 rows
    s[:, 1] = np.where(np.arange(n) < 400, 1.0, 0.0)  # floods 400 rows
    s[:, 2:] = rng.normal(size=(n, 2)) + [1, 9] * y[:, 2:]
    d = hm.diagnose(y, s, labels=["wet", "wetter", "shaky", "good"])
    assert d.labels == ("wetter", "wet", "shaky", "good")
    assert d.labels_with("flooding") == ["wetter", "wet"]
    assert_array_equal(d.predicted[:2], [400, 100])


# The findings.


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


def calibrated(n, m, base, sharp, seed=0):
    rng = np.random.default_rng(seed)
    p = expit(rng.normal(size=(n, m)) * sharp + logit(base))
    return rng.random((n, m)) < p, p


@compiled
@pytest.mark.parametrize(
    ("n", "base", "sharp"),
    [(300, 0.02, 0.5), (300, 0.4, 5.0), (2000, 0.003, 0.5), (2000, 0.1, 2.0), (50, 0.3, 1.0)],
)
def test_true_probabilities_are_hardly_ever_miscalibrated(n, base, sharp):
    y, p = calibrated(n, 60, base, sharp)
    assert hm.diagnose(y, p).counts["miscalibrated"] <= 6


@pytest.mark.parametrize("seed", range(3))
def test_labels_that_are_told_apart_well_are_not_miscalibrated(seed):
    # between the scores of positives and negatives all thresholds are one, half of F1 too
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
def test_scores_that_are_no_probabilities_are_not_judged_and_the_answer_says_so(change):
    y, p = calibrated(500, 5, 0.2, 2.0)
    d = hm.diagnose(y, change(p**4), n_resamples=20)
    assert not d.probabilities
    assert d.counts["miscalibrated"] == 0
    for text in (repr(d), d._repr_html_()):
        assert "Scores are not probabilities (0 to 1), so calibration is not judged" in text


def test_scores_from_0_to_1_are_judged_and_nothing_is_said():
    y, p = calibrated(500, 5, 0.2, 2.0)
    assert "not judged" not in repr(hm.diagnose(y, p, n_resamples=20))


def test_perfect_accuracy_of_nobody_is_not_miscalibrated():
    rng = np.random.default_rng(0)
    y, p = rng.random((400, 5)) < 0.05, 0.1 * rng.random((400, 5))
    d = hm.diagnose(y, p, "accuracy", n_resamples=20)
    assert (d.thresholds == INF).all()
    assert d.counts["miscalibrated"] == 0


# Questions to the answer.


def test_labels_with_and_counts_tell_the_findings(sick):
    for name in FINDINGS:
        having = [
            label for label, found in zip(sick.labels, sick.findings, strict=True) if name in found
        ]
        assert sick.labels_with(name) == having
        assert sick.counts[name] == len(having)
    assert tuple(sick.counts) == FINDINGS


def test_an_unknown_finding_is_refused_with_those_that_are(sick):
    with pytest.raises(ValueError, match=r"finding must be one of .*'flooding'.*got 'floding'"):
        sick.labels_with("floding")


def test_an_unknown_label_is_a_key_error(sick):
    with pytest.raises(KeyError, match="no label 'platypus' among 6"):
        sick.explain("platypus")


def test_an_explanation_holds_the_numbers_of_the_label(sick):
    for j, label in enumerate(sick.labels):
        head, *lines = sick.explain(label).splitlines()
        assert head.startswith(f"{label}: {sick.support[j]:,} positive of 2,000 rows; f1 ")
        assert f"{sick.scores[j]:.3f} here" in head
        assert f"{sick.expected_scores[j]:.3f} expected" in head
        if not sick.findings[j]:
            assert lines == ["- nothing to report."]
            continue
        assert [line[2:].split(":")[0] for line in lines] == list(sick.findings[j])
        said = dict(zip(sick.findings[j], lines, strict=True))
        low, high = (end[j] for end in sick.threshold_interval)
        numbers = {
            "uninformative": [f"{sick.scores[j]:.3f}", f"{sick.everyone[j]:.3f}"],
            "flooding": [f"{sick.predicted[j]:,} of 2,000"],
            "too few positives": [f"{sick.support[j]:,}", "45", "2,000"],
            "unstable threshold": [f"{sick.thresholds[j]:.4g}", f"{low:.4g}"],
        }
        for name, line in said.items():
            assert all(number in line for number in numbers[name])
        if "unstable threshold" in said:
            end = "predicting nobody" if high == INF else f"{high:.4g}"
            assert end in said["unstable threshold"]
        if "flooding" in said:
            times = sick.predicted[j] / max(sick.support[j], 1)
            assert f"{times:.0f} times" in said["flooding"]


def test_an_explanation_of_miscalibration_holds_both_thresholds():
    y, p = calibrated(2000, 1, 0.1, 2.0)
    d = hm.diagnose(y[:, 0], p[:, 0] ** 3)
    text = d.explain(0)
    assert "miscalibrated" in text
    assert f"{d.half_max[0]:.4g}" in text
    assert f"{d.thresholds[0]:.4g}" in text


def test_the_positives_needed_are_never_those_there_are():
    # 20 squared is below 420, though the root of 420 rounds to 20
    y = np.arange(420) < 20
    text = hm.diagnose(y, -np.arange(420.0)).explain(0)
    assert "too few positives: 20; to tell skill from luck takes about 21" in text


# Tables and names.


def test_a_plain_table_holds_all_columns_in_the_order_of_harm(sick):
    table = sick.table()
    assert list(table) == COLUMNS
    assert table["label"] == list(sick.labels)
    assert set(table["label"]) == set(NAMES)
    assert_array_equal(table["support"], sick.support)
    assert_array_equal(table["predicted"], sick.predicted / 2000)
    assert_array_equal(table["everyone"], sick.everyone)
    assert_array_equal(table["low"], sick.threshold_interval[0])
    assert table["findings"] == [", ".join(found) for found in sick.findings]


@pytest.mark.parametrize(
    ("make", "kind"),
    [(pd.DataFrame, pd.DataFrame), (pl.DataFrame, pl.DataFrame), (pa.table, pa.Table)],
)
def test_frames_give_frames_with_the_names_of_their_columns(make, kind, sick):
    y, s = herd()
    truth = {name: y[:, j] for j, name in reversed(list(enumerate(NAMES)))}
    d = hm.diagnose(make(truth), make({name: s[:, j] for j, name in enumerate(NAMES)}))
    assert d.labels == sick.labels
    assert d.findings == sick.findings
    table = d.table()
    assert type(table) is kind
    columns = table.column_names if kind is pa.Table else list(table.columns)
    assert columns == COLUMNS
    read = table["label"].to_pylist() if kind is pa.Table else list(table["label"])
    assert read == list(sick.labels)
    assert repr(d) == repr(sick)


def test_labels_without_names_are_places():
    y, s = herd(100)
    assert set(hm.diagnose(y, s, n_resamples=5).labels) == set(range(6))


@pytest.mark.parametrize("names", [iter(NAMES), (name for name in NAMES), dict.fromkeys(NAMES)])
def test_names_may_be_any_iterable(names):
    y, s = herd(100)
    assert set(hm.diagnose(y, s, labels=names, n_resamples=5).labels) == set(NAMES)


def test_one_classifier_is_one_label(sick):
    y, s = herd()
    d = hm.diagnose(y[:, 3], s[:, 3])
    assert d.labels == (0,)
    assert set(d.findings[0]) == of(sick, "constant")
    assert repr(d).startswith("Diagnosis of 1 label on 2,000 rows: 1 with findings\n")
    assert hm.diagnose(y[:, 3], s[:, 3], labels=["it"]).labels == ("it",)


def test_sparse_and_dense_agree():
    y, s = herd(300)
    s[::7, :] = -INF
    dense = hm.diagnose(y, s, n_resamples=20)
    for form in ("csr", "csc", "coo"):
        d = hm.diagnose(sparse.coo_array(y).asformat(form), to_sparse(s, form), n_resamples=20)
        assert repr(d) == repr(dense)
        assert d.findings == dense.findings
        assert_array_equal(d.table()["low"], dense.table()["low"])


def test_absent_scores_do_not_make_probabilities_of_others_or_spoil_them():
    y, p = calibrated(300, 3, 0.2, 2.0)
    p[::5] = -INF
    assert hm.diagnose(y, p, n_resamples=5).probabilities
    assert hm.diagnose(y, to_sparse(p), n_resamples=5).probabilities
    assert not hm.diagnose(y, to_sparse(p * 2), n_resamples=5).probabilities


def test_the_same_seed_gives_the_same_answer():
    y, s = herd(300)
    first, second, other = (hm.diagnose(y, s, n_resamples=30, seed=seed) for seed in (5, 5, 6))
    assert repr(first) == repr(second)
    for name in ("thresholds", "expected_scores", "half_max"):
        assert_array_equal(getattr(first, name), getattr(second, name))
    assert_array_equal(first.threshold_interval, second.threshold_interval)
    assert not np.array_equal(first.threshold_interval, other.threshold_interval)


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))]
)
def test_an_answer_can_be_copied_and_pickled(again, sick):
    twin = again(sick)
    assert repr(twin) == repr(sick)
    assert twin.explain("rare") == sick.explain("rare")


def test_data_are_not_changed():
    y, s = herd(100)
    before = y.copy(), s.copy()
    hm.diagnose(y, s, n_resamples=5)
    assert_array_equal((y, s), before)


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
def test_labels_without_positives_whatever_nothing_is_worth(zero_division):
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


# Options, which assess checks.


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
        ([0, 2], [0.5, 0.5], "y_true must hold only 0 and 1"),
        ([0, 1, 1], [0.5, 0.5], "same shape"),
    ],
)
def test_bad_data_are_refused(y, s, text):
    with pytest.raises(ValueError, match=text):
        hm.diagnose(y, s)


def test_progress_is_told():
    told = []
    hm.diagnose(*herd(100), n_resamples=10, progress=lambda done, whole: told.append((done, whole)))
    assert told
    assert told[-1][0] == told[-1][1]


# To be read.


def check_readable(text, lines=45, width=120):
    assert len(text.splitlines()) <= lines
    assert max(map(len, text.splitlines())) <= width


def test_the_repr_counts_findings_and_shows_the_worst_first(sick):
    text = repr(sick)
    head, *rest = text.splitlines()
    assert head == "Diagnosis of 6 labels on 2,000 rows: 5 with findings"
    counted = {line.split("  ")[-1].split(":")[0]: int(line.split()[0]) for line in rest[:4]}
    assert counted == {name: count for name, count in sick.counts.items() if count}
    rows = [line for line in rest if line.split() and line.split()[0] in NAMES]
    assert [row.split()[0] for row in rows] == list(sick.labels)
    assert "miscalibrated" not in text
    assert "explain(label)" in text
    check_readable(text)


def test_healthy_labels_have_nothing_to_report():
    rng = np.random.default_rng(0)
    y = rng.random((2000, 3)) < 0.3
    d = hm.diagnose(y, rng.normal(size=y.shape) + 4 * y, n_resamples=20)
    assert repr(d).startswith("Diagnosis of 3 labels on 2,000 rows: 0 with findings\n")
    assert all("nothing to report" in d.explain(label) for label in d.labels)


def test_long_names_are_cut_in_the_repr_only():
    y, s = herd(200)
    names = [f"{j} {'very ' * 60}long" for j in range(6)]
    d = hm.diagnose(y, s, labels=names, n_resamples=5)
    check_readable(repr(d), width=160)
    assert set(d.table()["label"]) == set(names)
    assert names[2] in d.explain(names[2])


HOSTILE = ["<script>alert(1)</script>", "a & b", "two\nlines", "\x1b[31mred", "'", '"']


def test_hostile_names_break_neither_html_nor_lines():
    y, s = herd(200)
    plain = hm.diagnose(y, s, n_resamples=5)
    d = hm.diagnose(y, s, labels=HOSTILE, n_resamples=5)
    page = d._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "a &amp; b" in page
    assert len(repr(d).splitlines()) == len(repr(plain).splitlines())
    assert "\x1b" not in repr(d)


def test_html_escapes_the_metric():
    metric = hm.Metric("<img src=x>", lambda tp, fp, fn, _tn: tp / (tp + fp + fn))
    assert "<img src=x>" not in hm.diagnose(*herd(60), metric, n_resamples=5)._repr_html_()


@compiled
def test_thirty_thousand_sparse_labels_take_few_calls_and_fit_a_terminal():
    rng = np.random.default_rng(0)
    n, m, each = 3000, 30_000, 60
    indices = rng.integers(m, size=(n, each))
    indices.sort(axis=1)
    rows, columns = np.repeat(np.arange(n), each), indices.ravel()
    kept = np.unique(rows * m + columns)
    s = rng.random(len(kept))
    scores = sparse.csr_array((s, np.divmod(kept, m)), shape=(n, m))
    hit = rng.random(len(kept)) < s**3
    truth = sparse.csr_array((np.ones(hit.sum()), np.divmod(kept[hit], m)), shape=(n, m))
    hm.diagnose(*herd(60), n_resamples=2)  # compiles
    (d, text), calls = counting_calls(lambda: [d := hm.diagnose(truth, scores), repr(d)])
    assert calls < 20 * m  # almost all work is done in kernels and on whole arrays
    assert len(d.labels) == m
    assert d.counts["too few positives"] > 25_000
    assert text.startswith("Diagnosis of 30,000 labels on 3,000 rows: ")
    assert "... and 29,970 more labels" in text
    check_readable(text, width=125)
    check_readable(d.explain(d.labels[0]), lines=6, width=160)
