"""Tuning warns, once, if its answer floods labels or its score is too optimistic."""

import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from strategies import compiled

import halfmax as hm
from halfmax._core.limits import changed
from halfmax.honesty import on_staircase, redraw


def warned(*data, **options):
    """The warnings that tuning raises."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hm.tune(*data, **options)
    assert all(w.filename == __file__ for w in caught)
    return caught


def text_of(*data, **options):
    """The text of the only warning of tuning."""
    (warning,) = warned(*data, **options)
    assert warning.category is hm.OptimismWarning
    return str(warning.message)


def rare_noise(n=500, m=30, base=0.01, seed=0):
    """Labels that both flood and have optimistic scores."""
    rng = np.random.default_rng(seed)
    return (rng.random((n, m)) < base).astype(int), rng.normal(size=(n, m))


def healthy(n=500, m=10, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random((n, m)) < 0.3).astype(int)
    return y, rng.normal(size=(n, m)) + 3 * y


def lonely(n=400, m=40):
    """Optimistic scores without flooding: one positive is on top by luck, others are far below."""
    rng = np.random.default_rng(0)
    y, s = np.zeros((n, m), int), rng.random((n, m))
    for j in range(m):
        top = np.argsort(-s[:, j])
        y[top[0], j] = y[top[150:153], j] = 1
    return y, s


def flooding(y, s, tuned):
    predicted = (s >= tuned.thresholds).sum(axis=0)
    return np.flatnonzero((predicted > 0.05 * len(y)) & (predicted > 10 * y.sum(axis=0)))


# When tuning warns.


def test_the_warning_is_a_halfmax_warning_and_a_user_warning():
    assert issubclass(hm.OptimismWarning, hm.HalfmaxWarning)
    assert issubclass(hm.OptimismWarning, UserWarning)


def test_rare_noise_raises_one_warning_with_numbers_and_the_remedy():
    y, s = rare_noise()
    text = text_of(y, s)
    tuned = hm.tune(y, s)
    flooded = sorted(flooding(y, s, tuned), key=lambda j: -tuned.predicted[j])
    assert (
        f"{len(flooded)} of 30 labels are predicted for more than 5 % of the rows tuned on" in text
    )
    assert "more than 10 times the base rate" in text
    some = ", ".join(map(str, flooded[:3]))
    assert f"({some} and {len(flooded) - 3} more)" in text
    assert f"these thresholds reach {hm.tune(y, s).score:.3f} on the rows" in text
    assert "guard='auto'" in text
    assert "diagnose()" in text
    assert "\n" not in text


def test_the_warning_shows_the_line_of_the_caller():
    data = rare_noise()
    with pytest.warns(hm.OptimismWarning) as caught:
        hm.tune(*data)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with open(__file__, encoding="utf-8") as file:
        assert "hm.tune(*data)" in file.readlines()[caught[0].lineno - 1]


def test_flooding_without_optimism():
    y = np.zeros((1000, 2), int)
    y[:600, 0] = 1
    y[:40, 1] = 1  # too many for optimism to matter
    s = np.zeros((1000, 2))
    s[:600, 0] = s[:500, 1] = 1
    text = text_of(y, s, labels=["dry", "wet"])
    assert "1 of 2 labels is predicted for" in text
    assert "('wet')" in text
    assert "these thresholds reach" not in text


def test_optimism_without_flooding():
    y, s = lonely()
    tuned = hm.tune(y, s)
    assert not len(flooding(y, s, tuned))
    text = text_of(y, s)
    assert text.startswith(f"these thresholds reach {tuned.score:.3f} on the rows they were tuned")
    assert "5 %" not in text
    assert "guard='auto'" in text


@compiled
@pytest.mark.parametrize("seed", range(5))
def test_healthy_data_raise_no_warning(seed):
    y, s = healthy(seed=seed)
    for average in ("macro", "micro", "samples"):
        for per_label in (True, False):
            assert not warned(y, s, average=average, per_label=per_label)
    assert not warned(y[:, 0], s[:, 0])


def test_rare_labels_that_are_well_separated_raise_no_warning():
    rng = np.random.default_rng(0)
    y = (rng.random((1000, 20)) < 0.01).astype(int)
    assert (y.sum(axis=0) > 2).all()
    assert not warned(y, rng.random(y.shape) + 2 * y)


@pytest.mark.parametrize("n", [1, 2, 19])
def test_fewer_than_twenty_rows_raise_one_short_warning(n):
    y = np.zeros((n, 3), int)
    y[0] = 1
    rows = "1 row" if n == 1 else f"{n} rows"
    for s in (np.zeros((n, 3)), np.arange(3.0 * n).reshape(n, 3)):
        assert text_of(y, s).startswith(f"{rows} {'is' if n == 1 else 'are'} too few to tune on")
    assert text_of(y[:, 0], np.zeros(n)).startswith(f"{rows} with 1 positive ")


def test_three_perfect_rows_are_not_taken_at_their_word():
    assert text_of([0, 0, 1], [0.1, 0.2, 0.3]) == (
        "3 rows with 1 positive are too few to tune on: F1 1.000 here says little about new rows; "
        "pass 20 rows or more, and see assess() for what to expect"
    )


@pytest.mark.parametrize("y", [np.zeros(3, int), np.zeros(300, int), np.zeros((30, 2), int)])
def test_truth_without_positives_raises_one_short_warning(y):
    (warning,) = warned(y, np.ones(y.shape))
    assert warning.category is hm.HalfmaxWarning
    assert str(warning.message) == (
        "y_true has no positives, so no threshold can be tuned and no rows are predicted: pass "
        "rows with positives, or check pos_label"
    )


def test_twenty_rows_may_raise_a_warning():
    y, s = np.zeros((20, 3), int), np.zeros((20, 3))
    y[0] = 1
    assert "3 of 3 labels are predicted" in text_of(y, s)


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@pytest.mark.parametrize("seed", range(3))
def test_the_remedy_raises_no_warning(seed, average):
    y, s = rare_noise(seed=seed)
    assert warned(y, s)
    assert not warned(y, s, guard="auto", average=average)


def test_the_remedy_for_one_classifier_raises_another_warning():
    y, s = rare_noise(m=1, base=0.006)
    assert warned(y[:, 0], s[:, 0])
    assert "predict nothing at all" in nothing_text(y[:, 0], s[:, 0], guard="auto")


# Nothing is predicted.


def nothing_text(*data, **options):
    """The text of the only warning, that nothing is predicted."""
    (warning,) = warned(*data, **options)
    assert warning.category is hm.HalfmaxWarning
    text = str(warning.message)
    assert text.startswith("these thresholds predict nothing at all, though there are positives: ")
    return text


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_never_warns_if_it_drops_every_label(average):
    text = nothing_text(*rare_noise(), guard="never", average=average)
    assert "guard='never' drops labels" in text
    assert "use more rows or guard='auto'" in text
    assert "diagnose()" in text


def test_never_warns_for_a_small_set_of_seven_labels():
    rng = np.random.default_rng(3)
    y = (rng.random((48, 7)) < 0.15).astype(int)
    s = rng.random(y.shape)
    assert hm.tune(y, s).score > 0
    nothing_text(y, s, guard="never")
    nothing_text(y, s, guard="never", sample_weight=np.ones(48))
    assert "guard='never'" in nothing_text(y, s, guard="never", metric="accuracy")


def test_never_is_silent_while_one_label_is_left():
    y, s = rare_noise()
    good_y, good_s = healthy(m=1)
    assert not warned(np.hstack([y, good_y]), np.hstack([s, good_s]), guard="never")


@pytest.mark.parametrize("guard", [None, "auto", "calibrated", "smooth", "never"])
@pytest.mark.parametrize("one", [True, False])
def test_positives_that_no_threshold_reaches_raise_a_warning(guard, one):
    y, s = rare_noise()
    s[y == 1] = -np.inf
    y, s = (y[:, 0], s[:, 0]) if one else (y, s)
    text = nothing_text(y, s, guard=guard)
    if guard not in ("auto", "never"):
        assert "no positive has a score above -inf" in text


def test_metrics_that_are_best_without_predictions_raise_no_warning():
    y, s = rare_noise()
    for guard in (None, "auto", "smooth"):
        assert not hm.tune(y, s, metric="accuracy", guard=guard).predicted.any()
        assert not warned(y, s, metric="accuracy", guard=guard)


def test_labels_without_positives_need_not_be_predicted():
    y, s = rare_noise()
    (warning,) = warned(0 * y, s, guard="never")
    assert "no positives" in str(warning.message)


def test_floors_that_no_threshold_satisfies_raise_one_warning():
    y, s = rare_noise()
    (warning,) = warned(y[:, 0], s[:, 0], min_precision=1.0)
    assert "no threshold satisfies" in str(warning.message)


def test_other_guards_raise_warnings_of_floods_but_not_of_optimism():
    y, s = np.zeros((400, 3), int), np.zeros((400, 3))
    y[:3] = 1
    for guard in ("fbr:0.0", "fbr"):
        text = text_of(y, s, guard=guard)
        assert "3 of 3 labels are predicted" in text
        assert "these thresholds reach" not in text
    y, s = lonely()
    assert not warned(y, s, guard="fbr")


def test_labels_without_any_negative_do_not_warn_but_one_classifier_does():
    y = np.full((100, 3), 1)
    s = np.random.default_rng(0).random((100, 3))
    for zero_division in (0.0, 1.0, np.nan):
        assert not warned(y, s, zero_division=zero_division)
        (warning,) = warned(y[:, 0], s[:, 0], zero_division=zero_division)
        assert str(warning.message).startswith("y_true has no negatives")


def test_scores_that_are_never_predicted_raise_a_warning():
    y, _ = rare_noise()
    nothing_text(y, np.full(y.shape, -np.inf))


# The expected score in the warning.


def expected_in(text):
    return float(re.search(r"at most about (\d\.\d+)", text)[1])


@pytest.mark.parametrize("zero_division", [0.0, 0.5, np.nan])
@pytest.mark.parametrize("positives", [2, 8, 14, 30])
def test_the_warning_expects_what_assess_does_without_its_bootstrap(
    monkeypatch, positives, zero_division
):
    rng = np.random.default_rng(positives)
    y = (rng.random((1000, 40)) < positives / 1000).astype(int)
    y[:, :5] = rng.random((1000, 5)) < 0.1
    y[:, 5] = 0
    s = rng.normal(size=y.shape)
    with changed(warned_optimism=0.05):
        said = text_of(y, s, zero_division=zero_division)
    assessed = hm.assess(y, s, n_resamples=50, zero_division=zero_division)
    assert expected_in(said) >= assessed.expected_score - 0.0005
    assert "labels with at most 40 positives are corrected for luck here; assess()" in said

    def without_optimism(*args):
        found = redraw.redraw(*args)
        return found._replace(optimism=0 * found.optimism)

    monkeypatch.setattr(on_staircase, "redraw", without_optimism)
    alike = hm.assess(y, s, n_resamples=2, zero_division=zero_division)
    assert f"{alike.expected_score:.3f}" == f"{expected_in(said):.3f}"


@compiled
def test_real_labels_reach_at_most_the_expected_score(real):
    _, splits = real
    said = warned(*splits["tune"])
    assessed = hm.assess(*splits["tune"], n_resamples=50)
    if said and "at most about" in str(said[0].message):
        quick = expected_in(str(said[0].message))
        assert assessed.expected_score <= quick + 0.0005 < 1.1 * assessed.expected_score


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("base", [0.006, 0.01, 0.02])
def test_the_expected_score_is_near_that_of_assess(seed, base):
    y, s = rare_noise(m=60, base=base, seed=seed)
    s += 1.0 * y
    assessed = hm.assess(y, s, n_resamples=20)
    said = expected_in(text_of(y, s))
    assert said == pytest.approx(assessed.expected_score, abs=0.15 * assessed.score)
    assert said < 0.8 * assessed.score


@pytest.mark.parametrize("zero_division", [0.0, np.nan])
def test_labels_without_positives_count_as_they_do_in_the_score(zero_division):
    y, s = rare_noise(m=60)
    y[:, ::2] = 0
    assessed = hm.assess(y, s, n_resamples=20, zero_division=zero_division)
    said = expected_in(text_of(y, s, zero_division=zero_division))
    assert said == pytest.approx(assessed.expected_score, abs=0.15 * assessed.score)


@compiled
def test_common_labels_dilute_the_optimism_of_rare_ones():
    y, s = lonely()
    good_y, good_s = healthy(len(y), 200)
    assert warned(y, s)
    assert not warned(np.hstack([y, good_y]), np.hstack([s, good_s]))


@compiled
def test_an_optimism_above_a_fifth_raises_a_warning():
    y, s = lonely()
    good_y, good_s = healthy(len(y), 400)
    shares = []
    for m in range(0, 400, 80):
        both = np.hstack([y, good_y[:, :m]]), np.hstack([s, good_s[:, :m]])
        assessed = hm.assess(*both, n_resamples=5)
        share = assessed.optimism / assessed.score
        shares.append(share)
        if abs(share - 0.2) > 0.03:
            assert bool(warned(*both)) == (share > 0.2)
    assert min(shares) < 0.2 < max(shares)


@compiled
def test_many_labels_are_judged_by_a_sample():
    y, s = rare_noise(60, 6000, base=0.03)
    assessed = hm.assess(y, s, n_resamples=2)
    assert expected_in(text_of(y, s)) == pytest.approx(assessed.expected_score, rel=0.2)


# The other ways of tuning.


def test_the_warning_for_one_classifier_counts_rows():
    y, s = np.zeros(1000, int), np.zeros(1000)
    y[:3] = 1
    s[:400] = 1
    text = text_of(y, s)
    assert "400 of 1,000 rows are predicted where 3 are positive" in text
    assert "guard='auto'" in text
    assert "labels are" not in text


def test_the_warning_for_one_classifier_mentions_optimism():
    y, s = lonely(m=1)
    text = text_of(y[:, 0], s[:, 0])
    assert "these thresholds reach" in text
    assessed = hm.assess(y[:, 0], s[:, 0])
    assert expected_in(text) == pytest.approx(assessed.expected_score, abs=0.05)


def wet_and_dry():
    """Labels that a shared or pooled threshold predicts for too many rows."""
    rng = np.random.default_rng(0)
    y = (rng.random((400, 6)) < [0.5, 0.5, 0.5, 0.5, 0.005, 0.005]).astype(int)
    y[0] = 1
    return y, np.hstack([y[:, :4] + 0.1 * rng.random((400, 4)), np.full((400, 2), 1.05)])


@pytest.mark.parametrize("average", ["macro", "samples"])
def test_the_remedy_for_a_shared_threshold_that_floods_is_one_per_label(average):
    y, s = wet_and_dry()
    s[:, :4] = np.where(y[:, :4], 1.0, 0.0)
    text = text_of(y, s, average=average, per_label=False)
    assert "2 of 6 labels are predicted" in text
    assert "One threshold for each label with guard='auto' floods no label" in text
    assert "these thresholds reach" not in text


def test_micro_averages_raise_warnings_of_floods_only():
    rng = np.random.default_rng(0)
    y = np.ones((400, 6), int)
    y[:, 5] = rng.random(400) < 0.01
    s = np.ones((400, 6))
    text = text_of(y, s, average="micro", per_label=False)
    assert "1 of 6 labels is predicted" in text
    y, s = lonely()
    for per_label in (True, False):
        assert not warned(y, s, average="micro", per_label=per_label)


def test_samples_averages_raise_no_warning_of_optimism():
    y, s = lonely()
    caught = warned(y, s, average="samples")
    assert all("these thresholds reach" not in str(w.message) for w in caught)


def test_weights_count_as_rows_and_raise_no_warning_of_optimism():
    y, s = np.zeros((100, 2), int), np.zeros((100, 2))
    y[:2] = 1
    assert "2 of 2 labels" in text_of(y, s, sample_weight=np.ones(100))
    heavy = np.where(y[:, 0], 20.0, 1.0)  # positives weigh 40 of 138
    assert not warned(y, s, sample_weight=heavy)
    y, s = lonely()
    assert not warned(y, s, sample_weight=np.ones(len(y)))


def test_the_warning_for_one_classifier_counts_weights():
    y, s = np.zeros(100, int), np.zeros(100)
    y[:2] = 1
    text = text_of(y, s, sample_weight=np.full(100, 2.5))
    assert "250 of 250 rows are predicted where 5 are positive" in text


def test_the_warning_says_that_the_remedy_takes_no_floors():
    y, s = rare_noise()
    text = text_of(y, s, min_recall=0.9)
    assert "guard='auto' gives thresholds that hold on new data, but takes no floors" in text
    assert "these thresholds reach" not in text
    with pytest.raises(ValueError, match="guard"):
        hm.tune(y, s, min_recall=0.9, guard="auto")


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_scores_raise_the_same_warning(form):
    y, s = rare_noise()
    assert text_of(sparse.coo_array(y).asformat(form), sparse.coo_array(s).asformat(form)) == (
        text_of(y, s)
    )


@pytest.mark.parametrize("metric", ["f2", "f0.5", "jaccard", hm.FBeta(1.3)])
def test_other_metrics_warn_too(metric):
    y, s = rare_noise()
    text = text_of(y, s, metric=metric)
    assert "these thresholds reach" in text
    assessed = hm.assess(y, s, metric, n_resamples=20)
    assert expected_in(text) == pytest.approx(assessed.expected_score, abs=0.15 * assessed.score)


def test_hostile_names_stay_on_one_line():
    y, s = rare_noise(m=3)
    names = ["two\nlines", "\x1b[31mred", "plain"]
    assert "\n" not in text_of(y, s, labels=names)
    assert "\x1b" not in text_of(y, s, labels=names)


def test_assess_and_diagnose_do_not_warn():
    y, s = rare_noise()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hm.assess(y, s, n_resamples=5)
        hm.diagnose(y, s, n_resamples=5)


def test_the_warning_can_be_silenced_by_its_class():
    y, s = rare_noise()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", hm.OptimismWarning)
        assert hm.tune(y, s).score > 0


def test_a_classifier_that_predicts_every_row_is_questioned():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.8
    text = text_of(y, -rng.random(200) - y)
    assert text == (
        "all 200 rows are predicted, as by a classifier that knows nothing: check that higher "
        "scores mean more likely positive, and which class is positive (pos_label); see diagnose() "
        "for details"
    )
    assert not warned(y, rng.random(200) + y)


def test_scores_that_point_the_other_way_are_questioned_whatever_is_asked_for():
    rng = np.random.default_rng(0)
    y = rng.random(900) < 0.2
    s = rng.normal(size=900) + 1.5 * y
    question = "check that higher scores mean more likely positive"
    floor = text_of(y, -s, metric="specificity", min_recall=0.95)
    assert re.match(r"1\d.* % of the rows predicted are positive, and 1.* % of all rows: ", floor)
    dear = text_of(~y, s, metric=hm.cost(fp=1, fn=50))
    assert dear.startswith("all 900 rows are predicted, and no threshold costs less: ")
    capped = warned(y, -s, metric="recall", max_predicted=30)
    assert "predict nothing at all" in str(capped[0].message)
    assert all(question in text for text in (floor, dear, str(capped[0].message)))
    (tight,) = warned(y, s, metric="recall", max_predicted=0.0001)
    assert "no threshold that satisfies max_predicted=0.0001 scores more" in str(tight.message)
    assert not warned(y, s, metric="specificity", min_recall=0.95)
    assert not warned(y, s, metric=hm.cost(fp=1, fn=5))
    assert not warned(y, s, metric="recall", max_predicted=30)
