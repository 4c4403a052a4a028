"""Reports as files: self-contained, written completely or not at all, with clear errors."""

import copy
import json
import os
import pickle
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from report_cases import CASES, FOWLKES, HOSTILE, NAMES, draw, hostile, many, one
from scipy import sparse
from surroundings import locked

import halfmax as hm
from halfmax._core.limits import changed
from halfmax.report import page, write

QUICK = {"assessment": False, "diagnosis": False}
BUNDLES = ("script", "style")  # hold libraries, whose comments have addresses


class Seen(HTMLParser):
    """Parse tags with their attributes, and the text outside scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.within = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.within = tag

    def handle_endtag(self, _):
        self.within = ""

    def handle_data(self, data):
        if self.within not in BUNDLES:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "report.html"


def report(case, path, **options):
    return case.tuned.report(path, **(QUICK | case.options | options))


def written(case, path, **options):
    return report(case, path, **options).read_text("utf-8")


@pytest.mark.parametrize("name", ["macro", "binary", "decision", "hostile"])
def test_the_file_needs_nothing_else(path, name):
    text = written(CASES[name](), path)
    seen = Seen(text)
    for tag, attributes in seen.tags:
        assert tag not in {"link", "iframe", "object", "embed", "base", "img", "form"}, tag
        for name in ("src", "srcset", "action", "data", "poster"):
            assert name not in attributes, (tag, attributes)
        assert attributes.get("href", "#").startswith("#"), attributes
        assert not any(name.startswith("on") for name in attributes), attributes
    assert not re.search(r"@import|url\(\s*['\"]?\s*(https?:)?//", text)
    policy = next(a["content"] for _, a in seen.tags if a.get("http-equiv"))
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert "connect-src" not in policy


def test_the_path_comes_back_and_text_is_accepted(path):
    case = one()
    assert report(case, str(path)) == path
    assert case.tuned.report(path, **QUICK) == path
    assert path.read_bytes().startswith(b"<!doctype html>")


@pytest.mark.parametrize("name", ["macro", "sparse", "binary"])
def test_the_same_seed_gives_the_same_bytes(tmp_path, name):
    first, again = (
        CASES[name]().tuned.report(tmp_path / f"{i}.html", n_resamples=5, seed=3).read_bytes()
        for i in range(2)
    )
    assert first == again


def test_another_seed_gives_another_interval(tmp_path):
    case = many()
    some = [
        case.tuned.report(tmp_path / f"{seed}.html", n_resamples=5, seed=seed).read_bytes()
        for seed in (1, 2)
    ]
    assert some[0] != some[1]


def test_hostile_names_and_titles_stay_inside_the_text(path):
    seen = Seen(written(hostile(), path))
    for name in HOSTILE:
        assert " ".join(name.split()) in seen.text
    assert scripts_of(seen) == scripts_of(Seen(written(many(), path)))


def scripts_of(seen):
    return [attributes for tag, attributes in seen.tags if tag == "script"]


def test_half_of_a_surrogate_pair_is_replaced(path):
    y, s = draw()
    names = ["\ud800 half", *NAMES[1:]]
    assert "half" in hm.tune(y, s, labels=names).report(path, **QUICK).read_text("utf-8")


# The file.


@pytest.fixture
def old(path):
    path.write_text("old")
    return path


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_report_that_fails_midway_leaves_the_old_one(old, monkeypatch):
    def full(_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        report(one(), old)
    assert old.read_text() == "old"
    assert files_in(old.parent) == ["report.html"]


def test_an_interrupted_report_leaves_the_old_one(old, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(write, "page_of", stop)
    with pytest.raises(KeyboardInterrupt):
        report(one(), old)
    assert old.read_text() == "old"
    assert files_in(old.parent) == ["report.html"]


def test_a_file_is_kept_if_it_must_not_be_replaced(old):
    with pytest.raises(FileExistsError, match="already exists; pass overwrite=True"):
        report(one(), old, overwrite=False)
    assert old.read_text() == "old"
    report(one(), old)
    assert old.read_text() != "old"


def test_paths_that_cannot_be_written_are_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(write, "gather", lambda *_: pytest.fail("the work has begun"))
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        report(one(), tmp_path / "missing" / "report.html")
    with pytest.raises(OSError, match="is a folder"):
        report(one(), tmp_path)
    assert files_in(tmp_path) == []


def test_a_folder_that_is_read_only(tmp_path):
    with locked(tmp_path), pytest.raises(PermissionError):
        report(one(), tmp_path / "report.html")


@pytest.mark.parametrize("module", page.NEEDED)
def test_missing_packages_are_named(path, monkeypatch, module):
    from halfmax._core import extras

    found = extras.find_spec
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == module else found(name))
    with pytest.raises(ModuleNotFoundError, match=rf"{module}.*pip install 'halfmax\[report\]'"):
        report(one(), path)
    assert not path.exists()


# The data.


def loaded(case, path):
    file = path.with_suffix(".json")
    case.tuned.save(file)
    return case._replace(tuned=hm.Thresholds.load(file))


def test_thresholds_from_a_file_ask_for_data(path):
    for case in (
        loaded(many(), path),
        many()._replace(tuned=pickle.loads(pickle.dumps(many().tuned))),
    ):
        with pytest.raises(ValueError, match="pass y_true and y_score, the same or new ones"):
            report(case, path)


def test_pickled_thresholds_leave_the_data_behind():
    tuned = many().tuned
    assert tuned._tuning is not None
    copy = pickle.loads(pickle.dumps(tuned))
    assert copy._tuning is None
    assert np.array_equal(copy.thresholds, tuned.thresholds)
    y, s = draw(rows=20_000)
    assert len(pickle.dumps(hm.tune(y, s))) < 10_000


Y, S = draw()
REFUSED = {
    "y_true alone": ({"y_true": Y}, ValueError, "must both be passed with 'y_true'"),
    "y_score alone": ({"y_score": S}, ValueError, "must both be passed with 'y_score'"),
    "weights alone": (
        {"sample_weight": np.ones(240)},
        ValueError,
        "be passed with 'sample_weight'",
    ),
    "names alone": ({"labels": NAMES}, ValueError, "be passed with 'labels'"),
    "too few labels": ({"y_true": Y[:, :4], "y_score": S[:, :4]}, ValueError, "6 columns"),
    "one label": ({"y_true": Y[:, 0], "y_score": S[:, 0]}, ValueError, "1 dimension"),
    "other names": (
        {"y_true": Y, "y_score": S, "labels": list("uvwxyz")},
        ValueError,
        "y_score",
    ),
    "no rows": ({"y_true": Y[:0], "y_score": S[:0]}, ValueError, "must not be empty"),
    "other lengths": ({"y_true": Y[:9], "y_score": S}, ValueError, "y_true"),
    "missing scores": (
        {"y_true": Y, "y_score": np.full_like(S, np.nan)},
        ValueError,
        "must be finite",
    ),
    "an unknown metric": ({"y_true": Y, "y_score": S, "metric": "f"}, ValueError, "metric"),
    "an assessment of the wrong type": (
        {"assessment": True},
        TypeError,
        r"what assess\(\) returns",
    ),
    "a score as assessment": ({"assessment": 0.5}, TypeError, "got float"),
    "a diagnosis of the wrong type": (
        {"diagnosis": "good"},
        TypeError,
        r"what diagnose\(\) returns",
    ),
    "a decision of the wrong type": (
        {"decision": S},
        TypeError,
        r"what decide\(\) returns; got ndarray",
    ),
    "an empty title": ({"title": " "}, TypeError, "title must be a string"),
    "a title of the wrong type": (
        {"title": 7},
        TypeError,
        "title must be a string that is not blank; got 7",
    ),
    "no draws": ({"n_resamples": 0}, ValueError, "n_resamples"),
    "a seed below 0": ({"seed": -1}, ValueError, "seed"),
    "progress of the wrong type": ({"progress": "yes"}, TypeError, "progress"),
}


@pytest.mark.parametrize(("options", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_options_are_refused_before_the_work(path, monkeypatch, options, error, message):
    monkeypatch.setattr(write, "gather", lambda *_: pytest.fail("the work has begun"))
    with pytest.raises(error, match=message):
        report(many(), path, **options)
    assert not path.exists()


def test_results_about_something_else_are_refused(path):
    few = Y[:, :3], S[:, :3]
    with pytest.raises(ValueError, match="assessment must be of the same thresholds"):
        report(many(), path, assessment=hm.assess(*few, n_resamples=5))
    with pytest.raises(ValueError, match="diagnosis must be of the same 6 labels"):
        report(many(), path, diagnosis=hm.diagnose(*few, n_resamples=5))
    y, s = draw(seed=1)
    assessed = hm.assess(Y, S, labels=NAMES, n_resamples=5)
    with pytest.raises(
        ValueError, match="these are new data, on which the score is measured directly"
    ):
        report(many(), path, y_true=y, y_score=s, assessment=assessed)


def test_one_classifier_needs_one_column(path):
    with pytest.raises(ValueError, match="the thresholds are for one classifier; y_score has 6"):
        report(one(), path, y_true=Y, y_score=S)


def test_columns_are_matched_by_name(path, tmp_path):
    case = loaded(many(), path)
    turned = [3, 0, 5, 1, 4, 2]
    y, s = (pd.DataFrame(values, columns=NAMES).iloc[:, turned] for values in (Y, S))
    mixed = written(case, path, y_true=y, y_score=s)
    assert mixed == written(case, tmp_path / "again.html", y_true=Y, y_score=S)


def test_the_same_data_passed_again_give_the_same_report(path, tmp_path):
    case = many()
    kept = written(case, path)
    assert kept == written(case, tmp_path / "again.html", y_true=Y, y_score=S)
    assert kept == written(loaded(case, path), tmp_path / "file.html", y_true=Y, y_score=S)


def test_new_data_are_distinguished_from_the_tuning_data(path):
    y, s = draw(seed=1)
    text = Seen(written(many(), path, y_true=y, y_score=s, assessment=None, n_resamples=5)).text
    assert "on rows not used for tuning" in text
    reached = hm.score(y, many().tuned.predict(s))
    assert f'data-value="{reached}"' in path.read_text("utf-8")


def test_a_custom_metric_must_be_passed_again(path):
    y, s = Y[:, 1], S[:, 1]
    case = loaded(one(metric=FOWLKES), path)
    with pytest.raises(
        ValueError,
        match="metric must be the 'fowlkes-mallows' that these thresholds are for; got None",
    ):
        report(case, path, y_true=y, y_score=s)
    text = written(case, path, y_true=y, y_score=s, metric=FOWLKES)
    assert text == written(one(metric=FOWLKES), path)


def test_tables_and_assessments_can_be_reported(path):
    rows, columns = np.indices(Y.shape)
    long = {"instance": rows.ravel(), "label": np.array(NAMES)[columns.ravel()]}
    table = pa.table(long | {"score": S.ravel(), "truth": Y.ravel()})
    tuned = hm.tune_table(table)
    text = tuned.report(path, **QUICK).read_text("utf-8")
    assert all(name in Seen(text).text for name in NAMES[:3])
    assert f'data-value="{tuned.score}"' in text
    assessed = hm.assess(Y, S, labels=NAMES, n_resamples=5)
    text = assessed.thresholds.report(path, assessment=assessed, n_resamples=5).read_text("utf-8")
    assert f'data-value="{assessed.expected_score}"' in text


def test_a_passed_assessment_and_diagnosis_are_not_computed_again(path, monkeypatch):
    from halfmax.report import content

    assessed = hm.assess(Y, S, labels=NAMES, n_resamples=5)
    found = hm.diagnose(Y, S, labels=NAMES, n_resamples=5)
    for name in ("assess_tuned", "diagnose_assessed", "diagnose_checked", "judge_elsewhere"):
        monkeypatch.setattr(content, name, lambda *_: pytest.fail("computed again"))
    text = written(many(), path, assessment=assessed, diagnosis=found)
    assert f'data-value="{assessed.expected_score}"' in text


def test_progress_is_reported(path):
    reported = []
    case = many()
    case.tuned.report(
        path, n_resamples=5, progress=lambda done, size: reported.append((done, size))
    )
    assert reported
    assert all(0 <= done <= size for done, size in reported)


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_the_summary_shows_what_score_computes(path, average):
    case = many(average=average)
    text = written(case, path)
    reached = hm.score(case.y, case.tuned.predict(case.s), average=average)
    assert f'id="score-here" data-value="{reached}"' in text
    usual = hm.score(case.y, case.predict(0.5), average=average)
    assert f"from {usual:.4f} at 0.5 to {reached:.4f}" in Seen(text).text


def numbers_in(text):
    return json.loads(re.search(r'id="numbers">(.*?)</script>', text, re.DOTALL)[1])


@pytest.mark.parametrize("sparse_truth", [False, True])
def test_sparse_columns_in_another_order_are_counted_alike(path, tmp_path, sparse_truth):
    case, turned = many(), [3, 0, 5, 1, 4, 2]
    y = sparse.csr_array(Y[:, turned]) if sparse_truth else Y[:, turned]
    names = [NAMES[j] for j in turned]
    s = sparse.csr_array(S[:, turned])
    text = written(loaded(case, path), path, y_true=y, y_score=s, labels=names)
    assert numbers_in(text) == numbers_in(written(case, tmp_path / "again.html"))


@pytest.mark.parametrize("how", [{"per_label": False}, {"guard": "smooth"}, {"average": "samples"}])
def test_half_max_is_that_of_the_best_score(path, how):
    best = hm.tune(Y, S).label_scores / 2
    found = numbers_in(written(many(**how), path))["labels"]["half_max"]
    assert found == pytest.approx(best, abs=1e-6)


def test_findings_belong_to_their_labels_whichever_names_are_used(path):
    found = hm.diagnose(Y, S, labels=NAMES, n_resamples=20)
    unnamed = hm.tune(Y, S)
    y, s = (pd.DataFrame(values, columns=NAMES) for values in (Y, S))
    options = {"assessment": False, "n_resamples": 20}
    codes = numbers_in(unnamed.report(path, y, s, **options).read_text("utf-8"))
    names = dict(zip(found.labels, found.findings, strict=True))
    expected = [sum(1 << codes["findings"].index(one) for one in names[name]) for name in NAMES]
    assert any(expected)
    assert codes["labels"]["found"] == expected


def test_data_that_changed_since_are_not_reported(path):
    y, s = draw(seed=2)
    tuned = hm.tune(y, s)
    s[:] = s[::-1]
    with pytest.raises(ValueError, match="the data that the thresholds were tuned on have changed"):
        tuned.report(path, **QUICK)


def test_rows_with_other_hits_are_not_the_tuning_rows(path):
    y, s = np.array([1, 1, 0, 0] * 10), np.array([0.9, 0.8, 0.2, 0.1] * 10)
    tuned = hm.tune(y, s)
    swapped = np.array([1, 0, 1, 0] * 10)  # as many positives, as many predicted
    assert hm.score(swapped, tuned.predict(s)) != tuned.score
    text = Seen(tuned.report(path, swapped, s, **QUICK).read_text("utf-8")).text
    assert "on rows not used for tuning" in text


def test_names_that_look_alike_can_be_distinguished(path):
    tuned = hm.tune(Y[:, :3], S[:, :3], labels=[1, "1", " "])
    assert numbers_in(tuned.report(path, **QUICK).read_text("utf-8"))["names"] == [
        "1",
        "'1'",
        "' '",
    ]


@pytest.mark.parametrize(
    ("how", "advice"),
    [
        ({"guard": "auto"}, "is already in use"),
        ({"per_label": False}, "Tune one threshold for each label with guard='auto'"),
        ({"min_precision": 0.1}, "a guard would ignore the restrictions"),
        ({}, "Tune with guard='auto'"),
    ],
)
def test_remedies_are_possible(path, how, advice):
    many(**how).tuned.report(path, assessment=False, n_resamples=5)
    assert advice in Seen(path.read_text("utf-8")).text


def test_a_copy_still_knows_its_data(path):
    assert copy.copy(many().tuned).report(path, **QUICK) == path


def test_very_many_scores_get_no_rules_that_need_whole_rows(path, tmp_path):
    whole = numbers_in(written(many(), path))
    with changed(report_row_scores=0, transposed_scores=10):  # one row at a time
        spared = numbers_in(written(many(), tmp_path / "spared.html"))
    assert [rule["key"] for rule in whole["rules"]] == ["tuned", "usual", "micro", "samples"]
    assert [rule["key"] for rule in spared["rules"]] == ["tuned", "usual", "micro"]
    assert spared["pooled"]["best"] == {"micro": whole["pooled"]["best"]["micro"]}
    at = dict(zip(whole["pooled"]["threshold"], whole["pooled"]["scores"]["samples"], strict=True))
    found = zip(spared["pooled"]["threshold"], spared["pooled"]["scores"]["samples"], strict=True)
    assert all(score == at[threshold] for threshold, score in found)


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_label_of_every_case_is_counted(path, name):
    case = CASES[name]()
    labels = numbers_in(written(case, path))["labels"]
    for j, threshold in enumerate(case.tuned.thresholds):
        expected = case.counts(None if threshold == np.inf else threshold, j)
        assert labels["tp"][j] == expected["tp"]
        assert labels["predicted"][j] == expected["predicted"]
        assert labels["support"][j] == expected["tp"] + expected["fn"]


# As thorough as assess.


def few_labels(size):
    rng = np.random.default_rng(0)
    y = rng.random((120, size)) < 0.3
    return y, rng.normal(size=y.shape) + y


@pytest.mark.parametrize("size", [1, 3])
def test_a_page_of_few_labels_expects_what_assess_does(path, size):
    y, s = (part[:, 0] if size == 1 else part for part in few_labels(size))
    page = hm.tune(y, s).report(path, diagnosis=False).read_text("utf-8")
    expected = hm.assess(y, s).expected_score
    assert f'id="score-expected" data-value="{expected}"' in page
    assert "bootstrap resamples" not in page


def test_a_page_says_how_many_resamples_it_draws_if_assess_draws_more(path):
    words = "This page draws 200 bootstrap resamples and assess() 1,000 by default"
    y, s = few_labels(51)
    assert words in hm.tune(y, s).report(path, diagnosis=False).read_text("utf-8")
    y, s = few_labels(2)
    t = hm.tune(y, s)
    assert words in t.report(path, n_resamples=200, diagnosis=False).read_text("utf-8")
    assert words in t.report(path, assessment=hm.assess(y, s, n_resamples=200)).read_text("utf-8")
    restricted = hm.tune(y, s, min_recall=0.5)  # of which assess draws 40 at most
    page = restricted.report(path, n_resamples=40, diagnosis=False).read_text("utf-8")
    assert "bootstrap resamples" not in page
