"""Pages of every goal: named metrics, costs, weighted means, restrictions and named classes."""

import json
import math
import re

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from naive_metrics import FORMULAS
from report_cases import CASES, COST, GAINS, LARGE, NAMES, ODD, draw, many, one
from scipy import sparse
from strategies import at_most, many_labels, to_sparse

import halfmax as hm
from halfmax.report import write
from halfmax.report.score_words import ScoreWords

QUICK = {"assessment": False, "diagnosis": False}
Y, S = draw()
W = np.random.default_rng(5).integers(0, 9, len(Y)) / 4
AMOUNTS = np.linspace(1.0, 90.0, len(Y))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "report.html"


def texts(page):
    """Return the words of a page outside scripts and styles."""
    plain = re.sub(r"<(script|style).*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", plain).replace("&#39;", "'").split())


def part(page, name):
    return json.loads(re.search(rf'id="{name}">(.*?)</script>', page, re.DOTALL)[1])


def reported(tuned, path, **options):
    return tuned.report(path, **(QUICK | options)).read_text("utf-8")


def shown_score(page, name="score-here"):
    return float(re.search(rf'id="{name}" data-value="([^"]*)"', page)[1])


# What the page computes from the numbers in it, as its script does.


def of_weights(parts, counts, zero):
    above, below = (sum(w * count for w, count in zip(one, counts, strict=True)) for one in parts)
    return above / below if below else zero


def page_scores(numbers, j):
    """Return the thresholds of a label, from high to low, and the page's score at each."""
    steps, labels = numbers["steps"], numbers["labels"]
    start, end = steps["offsets"][j : j + 2]
    yield None, 0, 0, steps["nobody"] and steps["nobody"][j]
    for k in range(start, end):
        known = steps["score"] and steps["score"][k]
        yield steps["threshold"][k], steps["tp"][k], steps["predicted"][k], known
    assert len(labels["support"]) == len(steps["offsets"]) - 1


COSTS = ({"fp": 1, "fn": 10}, {"fp": 0.5, "fn": 2.25, "tp": -3, "tn": 0.1}, {"fp": 0, "fn": 7})
goals = st.sampled_from([*FORMULAS, "f1", "precision", *COSTS])


@st.composite
def reports(draw):
    """Thresholds that a person wrote, for labels of every awkward kind."""
    case = draw(many_labels(dtypes=[np.float64], kinds=("none", "whole")))
    assume(np.isfinite(case.s).any())
    limits = draw(st.lists(st.sampled_from([0.25, 0.5, math.inf]), min_size=4, max_size=4))
    return case, dict(enumerate(limits[: case.s.shape[1]])), draw(st.booleans())


@at_most(25)
@given(reports(), goals, st.sampled_from(["macro", "weighted"]), st.sampled_from([0.0, 1.0]))
def test_every_number_is_that_of_the_slow_twin(tmp_path_factory, drawn, goal, average, zero):
    (y, s, w), limits, is_sparse = drawn
    is_cost = isinstance(goal, dict)
    average = average if len(limits) > 1 else "macro"
    metric = hm.cost(**goal) if is_cost else goal
    tuned = hm.Thresholds.from_dict(limits, metric, average, zero)
    scores = to_sparse(s) if is_sparse else s
    path = tmp_path_factory.mktemp("page") / "report.html"
    page = reported(tuned, path, y_true=y, y_score=scores, sample_weight=w)
    sign = -1 if is_cost else 1

    def same(found, expected):
        return naive.same(float(found), float(sign * expected))

    truth = naive.whole(y)
    guess = naive.whole(np.array([naive.predict(column, limits[j]) for j, column in columns(s)]).T)
    assert same(shown_score(page), naive.score(truth, guess, goal, average, w, zero))
    numbers = part(page, "numbers")
    parts = numbers["metric"]["parts"]
    for j, column in columns(s):
        for threshold, tp, predicted, known in page_scores(numbers, j):
            at = naive.predict(column, math.inf if threshold is None else threshold)
            counts = naive.confusion(naive.column(truth, j), at, w)
            assert (tp, predicted) == (counts[0], counts[0] + counts[1])
            value = known if parts is None else of_weights(parts, list(map(float, counts)), zero)
            assert same(value, naive.metric_value(goal, *counts, zero))


def columns(s):
    return enumerate(np.asarray(s, float).T.tolist())


# Every metric, from start to finish.

KINDS = {
    "one": lambda goal: hm.tune(Y[:, 1], S[:, 1], **goal),
    "many": lambda goal: hm.tune(Y, S, **goal),
    "weights": lambda goal: hm.tune(Y, S, sample_weight=W, **goal),
    "sparse": lambda goal: hm.tune(
        sparse.csr_array(Y), sparse.csr_array(np.where(S > 0.2, S, 0)), **goal
    ),
    "frame": lambda goal: hm.tune(*(pd.DataFrame(one, columns=NAMES) for one in (Y, S)), **goal),
    "shared": lambda goal: hm.tune(Y, S, per_label=False, **goal),
}
METRICS = {**{name: name for name in FORMULAS}, "cost": COST, "gains": GAINS}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_reported_as_tune_scores_it(path, name, kind):
    tuned = KINDS[kind]({"metric": METRICS[name]})
    page = tuned.report(path, n_resamples=5).read_text("utf-8")
    sign = -1 if name in ("cost", "gains") else 1
    assert shown_score(page) == pytest.approx(sign * tuned.score, rel=1e-12)
    labels = part(page, "numbers")["labels"]
    assert labels["threshold"] == [None if t == math.inf else t for t in tuned.thresholds.tolist()]
    if labels["score"] is not None:
        assert labels["score"] == pytest.approx(sign * tuned.label_scores, rel=1e-5)


@pytest.mark.parametrize("average", ["micro", "samples"])
def test_averages_that_no_search_finds_are_left_out(path, average):
    page = reported(many(metric="mcc", average=average, per_label=False).tuned, path)
    keys = [rule["key"] for rule in part(page, "numbers")["rules"]]
    assert keys == ["tuned", "usual", "macro", "samples"]  # micro needs a ratio


def test_a_metric_that_is_not_monotone_is_reported(path):
    for case in (many(metric=ODD), one(metric=ODD)):
        page = case.tuned.report(path, n_resamples=5).read_text("utf-8")
        assert shown_score(page) == pytest.approx(case.tuned.score)
        assert "guard='auto'" not in texts(page)  # which would refuse it


# The weighted mean over labels.


def rules_table(page):
    """Return the heads and the first row of the table of rules."""
    table = re.search(r'id="rules">(.*?)</table>', page, re.DOTALL)[1]
    heads = re.findall(r'scope="col">([^<]*)<', table)
    first = re.search(r"<tbody>\s*<tr>.*?</th>(.*?)</tr>", table, re.DOTALL)[1]
    return dict(zip(heads[1:], re.findall(r"<td>([^<]*)<", first), strict=True))


def test_the_weighted_mean_stands_on_its_own_pages_only(path):
    case = CASES["weighted"]()
    page = reported(case.tuned, path)
    row = rules_table(page)
    for average, name in (("weighted", "weighted F1"), ("macro", "macro F1")):
        reached = hm.score(Y, case.tuned.predict(S), average=average)
        assert row[name] == f"{reached:.4f}"
    assert shown_score(page) == case.tuned.score
    numbers = part(page, "numbers")
    assert [rule["key"] for rule in numbers["rules"]] == ["tuned", "usual", "micro", "samples"]
    assert "weighted" in numbers["pooled"]["best"]
    assert "labels count by their positives" in texts(page)
    plain = part(reported(many().tuned, path), "numbers")
    assert list(plain["averages"]) == ["macro", "micro", "samples"]
    assert plain["averages"]["samples"] == {
        "score": "per-instance F1",
        "best": "best for per-instance",
    }
    assert list(plain["pooled"]["scores"]) == ["macro", "micro", "samples"]
    assert "weighted" not in path.read_text("utf-8").partition('id="numbers"')[0]


def test_one_rule_is_best_for_both_means_over_labels(path):
    case = CASES["weighted, shared"]()
    names = [rule["name"] for rule in part(reported(case.tuned, path), "numbers")["rules"]]
    assert "best for macro and weighted" in names
    best = hm.tune(Y, S, "mcc", "weighted").thresholds
    assert np.array_equal(best, hm.tune(Y, S, "mcc", "macro").thresholds)


# Costs.


def test_costs_are_costs_in_every_sentence(path):
    tuned = hm.tune(Y[:, 1], S[:, 1], COST)
    found = hm.assess(Y[:, 1], S[:, 1], COST, n_resamples=200)
    page = tuned.report(path, assessment=found).read_text("utf-8")
    assert shown_score(page) == -tuned.score
    assert shown_score(page, "score-expected") == -found.expected_score
    said = texts(page)
    low, high = (-end for end in reversed(found.score_interval))
    assert 0 < low < -found.expected_score < high
    assert said.count(f"95 % interval {low:.4f} to {high:.4f}") == 2
    usual = -hm.score(Y[:, 1], (S[:, 1] >= 0.5).astype(int), COST)
    assert f"Mean cost goes from {usual:.4f} at 0.5 to {-tuned.score:.4f}" in said
    assert "Thresholds for the lowest mean cost." in said
    words = "mean cost of a row: 1 for a false positive, 10 for a false negative"
    assert f"Minimised {words}" in said
    assert f"expect {-found.expected_score:.4f}" in said
    lost = -found.expected_score + tuned.score
    assert f"The difference, {lost:.4f}, is the winner's curse" in said
    assert "Maximised" not in said
    assert not re.search(r"(?<![\w.])[-\u2212]\d", said)  # no number is negative


def test_the_threshold_that_costs_imply_stands_beside_the_tuned_one(path):
    tuned = hm.tune(Y[:, 1], S[:, 1], COST)
    page = reported(tuned, path)
    cost = -hm.score(Y[:, 1], (S[:, 1] >= 1 / 11).astype(int), COST)
    said = texts(page)
    assert f"mean cost at 0.09091 {cost:.4f} fp/(fp + fn), if scores are calibrated" in said
    assert "If calibrated the threshold would be 0.0909091, fp/(fp + fn)" in said
    numbers = part(page, "numbers")
    assert [rule["name"] for rule in numbers["rules"]] == ["this threshold", "0.5", "fp/(fp + fn)"]
    assert numbers["labels"]["half_max"] == [pytest.approx(1 / 11, rel=1e-5)]
    assert tuned.plug_in[0] == 1 / 11


@pytest.mark.parametrize(
    ("metric", "scores", "keys"),
    [
        (hm.cost(fp=1, fn=1), S, ["tuned", "usual"]),  # 0.5 is there already
        (COST, 4 * S - 1, ["tuned", "usual"]),  # no probabilities
        (hm.cost(fp=-1, fn=0, tp=0, tn=-1), S, ["tuned", "usual"]),  # 0/0
        (hm.cost(fp=0, fn=0, tp=2, tn=1), S, ["tuned", "usual"]),  # the more probable, the worse
        (hm.cost(fp=3, fn=10, tp=1, tn=1), S, ["tuned", "usual", "plug-in"]),
    ],
)
def test_there_is_a_rule_of_costs_only_if_they_imply_one(path, metric, scores, keys):
    numbers = part(reported(hm.tune(Y, scores, metric), path), "numbers")
    assert [rule["key"] for rule in numbers["rules"]] == keys
    if "plug-in" in keys:
        assert numbers["rules"][2]["name"] == "plug-in threshold for all"
        assert numbers["labels"]["half_max"] == [pytest.approx(2 / 11, rel=1e-5)] * len(NAMES)


def test_one_threshold_for_all_labels_may_be_that_of_costs_even_in_single_precision(path):
    tuned = hm.tune(Y, S.astype(np.float32), COST)
    pooled = part(reported(tuned, path), "numbers")["pooled"]
    cut = next(cut["at"] for cut in pooled["cuts"] if cut["key"] == "plug-in")
    step = pooled["threshold"].index(cut)
    assert pooled["predicted"][step] == (S.astype(np.float32) >= 1 / 11).sum()


def test_one_column_is_enough_for_mean_costs(path):
    case = CASES["cost"]()
    page = reported(case.tuned, path)
    row = rules_table(page)
    assert [head for head in row if "cost" in head] == ["mean cost"]
    for average in ("macro", "micro", "samples"):
        assert row["mean cost"] == f"{-hm.score(Y, case.tuned.predict(S), COST, average):.4f}"
    weighted = rules_table(reported(CASES["weighted cost"]().tuned, path))
    assert [head for head in weighted if "cost" in head] == ["mean cost", "weighted cost"]


def charts_of(page):
    return part(page, "charts")


def test_charts_of_costs_have_open_axes(path):
    page = many(metric=COST).tuned.report(path, n_resamples=20).read_text("utf-8")
    found = charts_of(page)
    own, others = (layer["layer"] for layer in found["curve"]["layer"] if "layer" in layer)
    assert own[0]["encoding"]["y"]["title"] == "cost"
    assert "domain" not in own[0]["encoding"]["y"]["scale"]
    assert others[0]["encoding"]["y"]["scale"] == {"domain": [0, 1]}
    assert found["curve"]["resolve"] == {"scale": {"y": "independent"}}
    height = found["honest"]["layer"][0]["encoding"]["y"]
    assert (height["title"], height["scale"]) == ("cost here, up to the expected cost", {})
    bars, lines = found["resampled"]["layer"]
    assert all(bar["low"] >= 0 for bar in bars["data"]["values"])
    expected, here = (line["low"] for line in lines["data"]["values"])
    assert 0 < here < expected
    assert lines["encoding"]["x"]["title"] == "cost"
    level = found["half-max"]["layer"][0]["data"]["values"]
    assert level == [{"threshold": 1 / 11}]


def test_a_metric_that_may_fall_below_zero_gets_an_open_axis(path):
    rng = np.random.default_rng(1)
    y, s = rng.random((80, 4)) < 0.1, rng.random((80, 4))
    names = ("f1", "accuracy", "balanced_accuracy", "gmean", "mcc", "youden", "kappa")
    for metric in names:
        open_ended = metric in ("mcc", "youden", "kappa")
        page = hm.tune(y, s, metric).report(path, n_resamples=5).read_text("utf-8")
        lines = [layer for layer in charts_of(page)["curve"]["layer"] if "y" in layer["encoding"]]
        scale = lines[0]["encoding"]["y"]["scale"]
        assert scale == ({} if open_ended else {"domain": [0, 1]})


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (-0.16666, ("0.1667", "1.0000", "0.0000")),
        (-15300.252, ("15,300", "1", "0")),
        (-0.0001234567, ("0.0001235", "1.0000000", "0.0000000")),
        (1.5, ("-1.500", "1.000", "0.000")),
        (0.0, ("0.0000", "1.0000", "0.0000")),
        (math.nan, ("-", "1.0000", "0.0000")),
    ],
)
def test_costs_of_any_size_have_four_digits(score, expected):
    words = ScoreWords(COST.name, "binary").sized_for(score)
    assert (words.text(score), words.text(-1.0), words.text(1e-12)) == expected
    assert ScoreWords("f1", "binary").sized_for(score).decimals == 4


def test_large_costs_are_grouped_on_the_page(path):
    case = many(metric=LARGE)
    assert -case.tuned.score > 100
    usual = case.score_all(0.5, "macro")
    assert f"{usual:,.1f} at 0.5" in texts(reported(case.tuned, path))


# Advice about optimistic scores.


def optimistic(metric, path, rows=60, labels=4, **options):
    rng = np.random.default_rng(3)
    y = rng.random((rows, labels)) < 0.08
    s = rng.random((rows, labels)) + 0.3 * y
    tuned = hm.tune(y, s, metric, **options)
    found = hm.assess(y, s, metric, n_resamples=50, **options)
    return found, texts(tuned.report(path, assessment=found, diagnosis=False).read_text("utf-8"))


@pytest.mark.parametrize("metric", ["f1", "mcc", "youden", "kappa"])
def test_optimism_of_scores_is_advised_on(path, metric):
    found, said = optimistic(metric, path)
    here, there = (f"{score:.4f}" for score in (found.score, found.expected_score))
    assert f"reach {here} on the rows they were tuned on, but only {there} on other rows" in said


def test_optimism_of_costs_is_advised_on_however_costs_are_counted(path):
    """The same cost added to every outcome changes no decision and no advice."""
    for more in (0, 30, -30):
        metric = hm.cost(fp=1 + more, fn=10 + more, tp=more, tn=more)
        found, said = optimistic(metric, path)
        words = ScoreWords(metric.name, "macro").sized_for(found.score)
        here, there = (words.text(score) for score in (found.score, found.expected_score))
        assert f"have a mean cost of {here} on the rows they were tuned on, but {there}" in said
        assert -found.expected_score > -found.score


def test_good_scores_and_costs_get_no_such_advice(path):
    y = np.arange(2000) % 4 == 0
    s = np.where(y, 0.6, 0.3) + np.linspace(-0.2, 0.2, 2000)
    for metric in ("f1", "mcc", COST, hm.cost(fp=31, fn=40, tp=30, tn=30)):
        text = texts(hm.tune(y, s, metric).report(path, n_resamples=50).read_text("utf-8"))
        assert "on the rows they were tuned on, but" not in text


# Costs of each row.


def of_rows():
    return hm.tune(Y[:, 1], S[:, 1], hm.cost(fp=1, fn=AMOUNTS))


REFUSED = {
    "nothing else": ({}, "such as their means, metric=hm.cost(fp=1, fn=10)"),
    "the same": ({"metric": hm.cost(fp=1, fn=AMOUNTS)}, "got metric=cost(fp=1, fn=per row)"),
    "another metric": ({"metric": "f1"}, "got metric=FBeta(1.0)"),
    "an unknown metric": ({"metric": "costs"}, "metric must be 'f1' or any"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_costs_of_each_row_are_refused_before_any_work(path, monkeypatch, options, message):
    monkeypatch.setattr(write, "gather", lambda *_: pytest.fail("the work has begun"))
    tuned = of_rows()
    file = path.with_suffix(".json")
    tuned.save(file)
    passed = {"y_true": Y[:, 1], "y_score": S[:, 1]}
    for some, data in ((tuned, {}), (tuned, passed), (hm.Thresholds.load(file), passed)):
        with pytest.raises(ValueError, match=re.escape(message)):
            some.report(path, **data, **options)
    assert not path.exists()


def test_costs_of_each_row_are_reported_by_one_cost_for_each_outcome(path):
    tuned, mean = of_rows(), hm.cost(fp=1, fn=45.5)
    for metric in (mean, hm.cost(fp=1, fn=2), "cost(fp=9, fn=1)"):
        cost = -hm.score(Y[:, 1], tuned.predict(S[:, 1]), metric)
        page = tuned.report(path, metric=metric, n_resamples=5).read_text("utf-8")
        assert shown_score(page) == cost
        why = "these thresholds were tuned for costs of each row"
        assert f"expected on new data \N{EN DASH} {why}" in texts(page)
    y, s = draw(seed=1)
    page = tuned.report(path, y[:, 1], s[:, 1], metric=mean, n_resamples=5).read_text("utf-8")
    there = -hm.score(y[:, 1], tuned.predict(s[:, 1]), mean)
    assert shown_score(page) == shown_score(page, "score-expected") == there
    assessed = hm.assess(Y[:, 1], S[:, 1], hm.cost(fp=1, fn=AMOUNTS), n_resamples=5)
    with pytest.raises(ValueError, match="got one of other thresholds or another metric"):
        tuned.report(path, metric=mean, assessment=assessed)


@pytest.mark.parametrize("rows", [60, 300])
def test_a_page_about_costs_of_each_row_suggests_no_guard_that_tune_would_refuse(path, rows):
    rng = np.random.default_rng(0)
    y, s = rng.random(rows) < 0.2, rng.normal(size=rows)
    tuned = hm.tune(y, s, hm.cost(fp=1, fn=np.full(rows, 5.0)))
    text = texts(tuned.report(path, metric=hm.cost(fp=1, fn=5), n_resamples=5).read_text("utf-8"))
    assert "not shown to do better than predicting all rows" in text
    assert "guard=" not in text


# Restrictions, and thresholds that a person wrote.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_predicted": 40}, "at most 40 rows"),
        ({"max_predicted": 0.1}, "at most 0.1 of the rows"),
        ({"min_specificity": 0.9}, "specificity at least 0.9"),
        (
            {"min_specificity": 0.9, "max_predicted": 50, "average": "micro"},
            "specificity at least 0.9 and at most 50 rows",
        ),
    ],
)
def test_restrictions_are_named_and_the_others_are_free(path, options, words):
    tuned = many(**options).tuned
    page = tuned.report(path, n_resamples=5).read_text("utf-8")
    assert f"Restricted to {words}" in texts(page)
    assert shown_score(page) == pytest.approx(tuned.score)
    names = {rule["key"]: rule["name"] for rule in part(page, "numbers")["rules"]}
    assert names["samples"] == "best for per-instance, unrestricted"
    assert "best for" not in names["tuned"]


NOTHING = {"min_recall": 0.999, "min_specificity": 0.999}
NOTHING_WORDS = "recall at least 0.999 and specificity at least 0.999"


@pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning")
@pytest.mark.parametrize(
    ("average", "fact", "advice"),
    [
        ("binary", ", which nothing satisfies", f"No threshold satisfies {NOTHING_WORDS}, so no"),
        ("micro", ", which nothing satisfies", "No thresholds were found that satisfy recall"),
        (
            "macro",
            ", which 1 of the labels cannot",
            f"1 of 2 labels ('b') cannot satisfy {NOTHING_WORDS}",
        ),
    ],
)
def test_a_page_says_that_nothing_satisfies_the_restrictions(path, average, fact, advice):
    y, s = np.tile([[0], [1]], (20, 2)), np.tile([[0.1, 0.9], [0.9, 0.1]], (20, 1))
    if average == "macro":
        tuned = hm.tune(y, s, labels=["a", "b"], **NOTHING)
    elif average == "micro":
        tuned = hm.tune(y, s[:, [1, 1]], average="micro", **NOTHING)
    else:
        tuned = hm.tune(y[:, 0], s[:, 1], **NOTHING)
    words = texts(reported(tuned, path))
    assert f"Restricted to {NOTHING_WORDS}{fact}" in words
    assert advice in words
    data = tuned._tuning.data
    other = texts(reported(tuned, path, y_true=data.truth[2:], y_score=data.scores[2:]))
    assert "satisf" not in other  # on rows that were not tuned on


def test_thresholds_from_a_dictionary_are_judged_on_the_data(path):
    for name in ("dictionary", "dictionary, cost"):
        case = CASES[name]()
        page = case.tuned.report(path, Y, S, n_resamples=5).read_text("utf-8")
        reached = hm.score(Y, case.tuned.predict(S), case.metric, case.tuned.average)
        assert shown_score(page) == (-reached if case.is_cost else reached)
        assert "Tuned on unknown rows" in texts(page)
        assert "nan" not in texts(page).lower().split()
        with pytest.raises(ValueError, match="pass y_true and y_score"):
            case.tuned.report(path)


def test_a_classifier_from_a_dictionary(path):
    tuned = hm.Thresholds.from_dict({"spam": 0.3}, average="binary", metric="youden")
    page = reported(tuned, path, y_true=Y[:, 1], y_score=S[:, 1])
    assert shown_score(page) == hm.score(Y[:, 1], (S[:, 1] >= 0.3).astype(int), "youden")
    assert "Positive class spam" in texts(page)


# Classes by name.

NAMED = np.where(Y[:, 1] == 1, "yes", "no")


def test_the_page_says_which_class_is_positive(path):
    tuned = hm.tune(NAMED, S[:, 1], pos_label="yes")
    said = texts(reported(tuned, path))
    assert "Positive class yes" in said
    assert "A row is predicted to be of class yes if its score is at or above" in said
    assert "positive (yes)" in said
    assert "class" not in texts(reported(one().tuned, path)).replace("classifier", "")


@pytest.mark.parametrize("kind", [np.array, pd.Series, pd.Categorical])
def test_new_data_may_have_classes_by_name(path, kind):
    tuned = hm.tune(NAMED, S[:, 1], pos_label="yes")
    file = path.with_suffix(".json")
    tuned.save(file)
    y, s = draw(seed=1)
    y, s = y[:, 1], s[:, 1]
    classes = kind(np.where(y == 1, "yes", "no"))
    page = reported(hm.Thresholds.load(file), path, y_true=classes, y_score=s, pos_label="yes")
    assert shown_score(page) == hm.score(y, tuned.predict(s))
    assert "on rows not used for tuning" in texts(page)
    same = reported(tuned, path, y_true=NAMED, y_score=S[:, 1], pos_label="yes")
    assert same == reported(tuned, path)


def test_numbers_may_be_classes(path):
    tuned = hm.tune(Y[:, 1] + 1, S[:, 1])
    for y, positive in ((Y[:, 1] + 1, 2), (np.where(Y[:, 1], -1, 1), -1)):
        page = reported(tuned, path, y_true=y, y_score=S[:, 1], pos_label=positive)
        assert shown_score(page) == tuned.score
        assert f"Positive class {positive} " in texts(page)


def test_many_labels_may_have_classes_by_name(path):
    names = np.where(Y == 1, "yes", "no")
    page = reported(many().tuned, path, y_true=names, y_score=S, pos_label="yes")
    assert page == reported(many().tuned, path)


def test_another_class_is_refused(path):
    tuned = hm.tune(NAMED, S[:, 1], pos_label="yes")
    passed = {"y_true": NAMED, "y_score": S[:, 1]}
    message = "pos_label must be the class that the threshold is for, 'yes'; got 'no'"
    with pytest.raises(ValueError, match=message):
        reported(tuned, path, **passed, pos_label="no")
    with pytest.raises(ValueError, match="must both be passed with 'pos_label'"):
        reported(tuned, path, pos_label="yes")
    assert not path.exists()
    unsaid = reported(tuned, path, **passed)
    assert unsaid == reported(tuned, path, **passed, pos_label="yes", labels=["yes"])
