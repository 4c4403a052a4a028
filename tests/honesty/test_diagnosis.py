"""What a diagnosis says: questions, tables, names, text and HTML."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from diagnose_cases import COLUMNS, FINDINGS, INF, NAMES, calibrated, diagnosis_of_herd, herd, of
from numpy.testing import assert_array_equal
from scipy import sparse
from strategies import compiled, to_sparse
from surroundings import counting_calls

import halfmax as hm


@pytest.fixture(scope="module")
def sick():
    return diagnosis_of_herd()


# Findings of labels.


def test_labels_with_and_counts_agree_with_the_findings(sick):
    for name in FINDINGS:
        having = [
            label for label, found in zip(sick.labels, sick.findings, strict=True) if name in found
        ]
        assert sick.labels_with(name) == having
        assert sick.counts[name] == len(having)
    assert tuple(sick.counts) == FINDINGS


def test_an_unknown_finding_is_refused_with_a_list_of_the_known_ones(sick):
    with pytest.raises(ValueError, match=r"finding must be one of .*'flooding'.*got 'floding'"):
        sick.labels_with("floding")


def test_an_unknown_label_is_a_key_error(sick):
    with pytest.raises(KeyError, match="no label 'platypus' among 6"):
        sick.explain("platypus")


def test_an_explanation_holds_the_numbers_of_the_label(sick):
    for j, label in enumerate(sick.labels):
        head, *lines = sick.explain(label).splitlines()
        count = f"{sick.support[j]:,} positive of" if sick.support[j] else "no positives in"
        assert head.startswith(f"{label}: {count} 2,000 rows; f1 ")
        assert f"{sick.scores[j]:.3f} here" in head
        assert f"{sick.expected_scores[j]:.3f} expected" in head
        if not sick.findings[j]:
            assert lines == ["- nothing to report."]
            continue
        assert [line[2:].split(":")[0] for line in lines] == list(sick.findings[j])
        said = dict(zip(sick.findings[j], lines, strict=True))
        low, high = (end[j] for end in sick.threshold_interval)
        numbers = {
            "uninformative": (
                [f"{sick.scores[j]:.3f}", f"{sick.everyone[j]:.3f}"]
                if sick.support[j]
                else ["without positives"]
            ),
            "flooding": [f"{sick.predicted[j]:,} of 2,000"],
            "too few positives": [f"{sick.support[j]:,}", "45", "2,000"],
            "unstable threshold": [f"{sick.thresholds[j]:.4g}", f"{low:.4g}"],
        }
        for name, line in said.items():
            assert all(number in line for number in numbers[name])
        if "unstable threshold" in said:
            end = "predicting no rows" if high == INF else f"{high:.4g}"
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


def test_the_positives_needed_are_always_more_than_there_are():
    # 20 squared is below 420, though the root of 420 rounds to 20
    y = np.arange(420) < 20
    text = hm.diagnose(y, -np.arange(420.0)).explain(0)
    assert "too few positives: 20; to tell skill from luck takes about 21" in text


def test_a_label_without_positives_is_said_to_have_none():
    y = np.zeros((2000, 2), int)
    y[:600, 0] = 1
    s = np.stack([np.linspace(1, 0, 2000), np.linspace(0, 1, 2000)], axis=1)
    d = hm.diagnose(y, s, labels=["some", "none"])
    head, *lines = d.explain("none").splitlines()
    assert head.startswith("none: no positives in 2,000 rows; f1 0.000 here")
    assert "- uninformative: without positives nothing can show what it knows." in lines
    assert "luck;" not in d.explain("none")


def test_large_numbers_of_an_explanation_have_separators():
    y, s = np.zeros(2000, int), np.arange(2000.0)
    y[11] = 1
    text = hm.diagnose(y, s).explain(0)
    assert "flooding: predicted for 1,989 of 2,000 rows, 1,989 times its positives." in text


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


def test_labels_without_names_are_positions():
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


def test_absent_scores_do_not_affect_whether_scores_are_probabilities():
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


def test_inputs_of_diagnose_are_not_modified():
    y, s = herd(100)
    before = y.copy(), s.copy()
    hm.diagnose(y, s, n_resamples=5)
    assert_array_equal((y, s), before)


# Text and HTML.


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
