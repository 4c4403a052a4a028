"""Folds of label matrices: every label has its share of positives in each fold."""

from fractions import Fraction

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneOut,
    StratifiedKFold,
)

import halfmax as hm
from halfmax.estimators.folds import LabelFolds, deal_rows, splitter_for
from halfmax.estimators.targets import read_targets

pytestmark = pytest.mark.kernels


@st.composite
def label_matrices(draw, most_rows=14, most_labels=5):
    """0/1 matrices, some labels of which are on no rows or on all rows."""
    shape = draw(st.integers(1, most_rows)), draw(st.integers(1, most_labels))
    truth = draw(hnp.arrays(np.uint8, shape, elements=st.integers(0, 1), fill=st.nothing()))
    for j in range(shape[1]):
        kind = draw(st.sampled_from(["any"] * 4 + ["none", "all", "one"]))
        if kind != "any":
            truth[:, j] = kind == "all"
        if kind == "one":
            truth[draw(st.integers(0, shape[0] - 1)), j] = 1
    return truth


@st.composite
def shares(draw):
    """Whole numbers of 64ths, so that sums of shares are exact in floats."""
    parts = draw(st.integers(1, 5))
    if draw(st.booleans()):
        return [Fraction(1, 2**parts)] * 2**parts
    cuts = sorted(draw(st.lists(st.integers(0, 64), min_size=parts - 1, max_size=parts - 1)))
    return [Fraction(b - a, 64) for a, b in zip([0, *cuts], [*cuts, 64], strict=True)]


@given(label_matrices(), shares())
def test_rows_are_dealt_as_by_the_plain_loop(truth, shares):
    found = deal_rows(truth, np.array(shares, float))
    assert found.tolist() == naive.dealt(truth, shares)


@given(label_matrices(most_rows=20), st.integers(2, 20), st.none() | st.integers(0, 99))
def test_every_row_is_held_out_once(truth, folds, seed):
    random = None if seed is None else np.random.RandomState(seed)
    splits = list(LabelFolds(folds, random).split(None, truth))
    assert len(splits) == folds
    held_out = np.concatenate([test for _, test in splits])
    assert sorted(held_out) == list(range(len(truth)))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(len(truth)))


@given(label_matrices(), st.integers(2, 14))
def test_no_fold_is_empty_if_there_are_enough_rows(truth, folds):
    sizes = np.bincount(deal_rows(truth, np.full(folds, 1 / folds)), minlength=folds)
    assert (sizes > 0).sum() == min(folds, len(truth))


@given(label_matrices(most_rows=30), st.integers(2, 6), st.none() | st.integers(0, 99))
def test_the_rarest_label_is_spread_as_evenly_as_can_be(truth, folds, seed):
    random = None if seed is None else np.random.RandomState(seed)
    part_of = deal_rows(truth, np.full(folds, 1 / folds), random)
    counts = truth.sum(axis=0)
    rarest = np.argmin(np.where(counts > 0, counts, len(truth) + 1))
    own = np.bincount(part_of[truth[:, rarest] == 1], minlength=folds)
    assert own.max() - own.min() <= 1


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.integers(2, 5), st.integers(0, 99))
def test_labels_that_share_no_rows_are_each_spread_evenly(sizes, folds, seed):
    label_of = np.repeat(np.arange(len(sizes) + 1), [*sizes, 7])  # seven rows without labels
    np.random.default_rng(seed).shuffle(label_of)
    truth = (label_of[:, None] == np.arange(len(sizes))).astype(np.uint8)
    part_of = deal_rows(truth, np.full(folds, 1 / folds))
    for j, size in enumerate(sizes):
        own = np.bincount(part_of[label_of == j], minlength=folds)
        assert own.max() - own.min() <= 1
        assert (own > 0).sum() == min(size, folds)


def test_rows_without_labels_even_out_the_folds():
    truth = np.zeros((20, 2), np.uint8)
    truth[3, 0] = truth[[3, 9, 11], 1] = 1
    part_of = deal_rows(truth, np.full(4, 0.25))
    assert_array_equal(np.bincount(part_of), [5, 5, 5, 5])
    assert len(set(part_of[[3, 9, 11]])) == 3


@given(st.integers(1, 40), st.integers(2, 7))
def test_rows_without_any_labels_are_dealt_in_turn(n_rows, folds):
    part_of = deal_rows(np.zeros((n_rows, 3)), np.full(folds, 1 / folds))
    sizes = np.bincount(part_of, minlength=folds)
    assert sizes.max() - sizes.min() <= 1


def test_a_label_of_all_rows_makes_no_difference():
    rng = np.random.default_rng(0)
    truth = (rng.random((40, 5)) < 0.2).astype(np.uint8)
    more = np.column_stack([truth, np.ones(40)])
    shares = np.full(4, 0.25)
    assert_array_equal(deal_rows(truth, shares), deal_rows(more, shares))


def test_many_rare_labels_are_in_as_many_folds_as_they_have_rows():
    """Unlike in plain folds, where a label of four rows may end up in one fold."""
    rng = np.random.default_rng(1)
    truth = np.zeros((300, 60), np.uint8)
    for j in range(60):
        truth[rng.choice(300, 4, replace=False), j] = 1
    part_of = deal_rows(truth, np.full(5, 0.2))
    spread = [len(set(part_of[truth[:, j] == 1])) for j in range(60)]
    at_random = [len(set(np.arange(300)[truth[:, j] == 1] % 5)) for j in range(60)]
    assert min(spread) >= 2
    assert np.mean(spread) > 3.5 > 3.2 > np.mean(at_random)


def test_one_column_may_come_as_a_vector():
    y = np.array([0, 1, 1, 0, 1, 0, 0, 1])
    shares = np.array([0.5, 0.5])
    assert_array_equal(deal_rows(y, shares), deal_rows(y[:, None], shares))
    assert_array_equal(np.bincount(deal_rows(y, shares)[y == 1]), [2, 2])


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_and_dense_labels_are_dealt_alike(form):
    truth = (np.random.default_rng(2).random((50, 6)) < 0.3).astype(np.int64)
    shares = np.full(5, 0.2)
    same = sparse.csr_array(truth).asformat(form)
    assert_array_equal(deal_rows(same, shares), deal_rows(truth, shares))


def test_the_same_seed_gives_the_same_folds_and_another_seed_others():
    truth = (np.random.default_rng(3).random((60, 4)) < 0.3).astype(np.uint8)

    def dealt(seed):
        return deal_rows(truth, np.full(3, 1 / 3), np.random.RandomState(seed)).tolist()

    assert dealt(0) == dealt(0)
    assert dealt(0) != dealt(1)
    assert dealt(0) != deal_rows(truth, np.full(3, 1 / 3)).tolist()


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5, 0.75])
def test_a_share_holds_out_that_share_of_the_rows_and_of_every_label(share):
    rng = np.random.default_rng(4)
    truth = (rng.random((400, 3)) < [0.05, 0.2, 0.6]).astype(np.uint8)
    splitter = LabelFolds(share)
    ((train, test),) = splitter.split(None, truth)
    assert splitter.get_n_splits() == 1
    assert len(train) + len(test) == 400
    assert abs(len(test) - share * 400) <= 1
    assert np.all(np.abs(truth[test].sum(axis=0) - share * truth.sum(axis=0)) <= 2)


# Which splitter belongs to a cv.

Y = [0, 1, 0, 1, 1, 0, 0, 1]
LABELS = np.array([Y, [1, 0, 0, 0, 1, 0, 0, 0]]).T


def splitter(cv, y=Y, random_state=None):
    return splitter_for(cv, read_targets(y), random_state)


def held_out_by(found, y=Y):
    return [test.tolist() for _, test in found.split(np.zeros((len(y), 1)), y)]


@pytest.mark.parametrize("cv", [4, np.int64(4)])
def test_a_number_of_folds_stratifies_two_classes_as_scikit_learn_does(cv):
    assert held_out_by(splitter(cv)) == held_out_by(StratifiedKFold(4))
    shuffled = StratifiedKFold(4, shuffle=True, random_state=7)
    assert held_out_by(splitter(cv, random_state=7)) == held_out_by(shuffled)


def test_a_share_of_two_classes_is_stratified_and_shuffled_by_a_seed_only():
    truth = np.arange(80) % 4 == 0
    held_out = {}
    for seed in (None, 3):
        ((train, held_out[seed]),) = splitter(0.25, truth, seed).split(None, truth)
        assert (truth[train].sum(), truth[held_out[seed]].sum()) == (15, 5)
        assert (len(train), len(held_out[seed])) == (60, 20)
    assert set(held_out[None]) != set(held_out[3])


def test_none_is_five_folds():
    y = Y * 2
    assert held_out_by(splitter(None, y), y) == held_out_by(StratifiedKFold(5), y)
    assert splitter(None, LABELS).get_n_splits() == 5


@pytest.mark.parametrize(("cv", "n_splits"), [(2, 2), (4, 4), (np.int32(3), 3), (0.5, 1)])
def test_a_number_and_many_labels_stratify_by_every_label(cv, n_splits):
    found = splitter(cv, LABELS)
    assert isinstance(found, LabelFolds)
    assert found.get_n_splits() == n_splits
    for _, test in list(found.split(None, LABELS))[:2]:
        assert LABELS[test, 0].sum() >= 1


def test_many_labels_are_shuffled_by_a_seed_only():
    plain = held_out_by(splitter(4, LABELS), LABELS)
    assert plain == held_out_by(splitter(4, LABELS), LABELS)
    assert plain != held_out_by(splitter(4, LABELS, 5), LABELS)
    again = splitter(4, LABELS, np.random.RandomState(5))
    assert held_out_by(splitter(4, LABELS, 5), LABELS) == held_out_by(again, LABELS)


@pytest.mark.parametrize("y", [Y, LABELS], ids=["two classes", "labels"])
def test_a_splitter_is_taken_as_it_is(y):
    for cv in (GroupKFold(2), LeaveOneOut(), LabelFolds(2)):
        assert splitter(cv, y) is cv


@pytest.mark.parametrize("y", [Y, LABELS], ids=["two classes", "labels"])
def test_splits_may_be_listed_or_come_from_a_generator(y):
    splits = [(np.arange(4), np.arange(4, 8)), (np.arange(4, 8), np.arange(4))]
    for cv in (splits, iter(splits), (split for split in splits)):
        assert held_out_by(splitter(cv, y), y) == [[4, 5, 6, 7], [0, 1, 2, 3]]


NUMBERS = r"cv must be a number of folds from 2 to the number of rows, a share .*got {} for 8 rows"


@pytest.mark.parametrize("y", [Y, LABELS], ids=["two classes", "labels"])
@pytest.mark.parametrize("cv", [1, 0, -3, 9, 1000, 0.0, 1.0, 1.5, -0.2, float("nan"), float("inf")])
def test_numbers_that_are_neither_folds_nor_a_share_are_refused(cv, y):
    with pytest.raises(ValueError, match=NUMBERS.format(str(cv))):
        splitter(cv, y)


@pytest.mark.parametrize(
    ("cv", "message"), [(True, "got True"), (False, "got False"), (object(), "cross-validation")]
)
def test_values_that_are_not_a_cv_are_refused(cv, message):
    with pytest.raises(ValueError, match=message):
        splitter(cv)


def test_a_fit_uses_these_folds():
    from sklearn.dummy import DummyRegressor

    rng = np.random.default_rng(6)
    truth = (rng.random((30, 3)) < 0.3).astype(np.int64)
    model = hm.ThresholdClassifier(DummyRegressor(), cv=3, random_state=4)
    model.fit(np.zeros((30, 1)), truth)
    part_of = deal_rows(truth, np.full(3, 1 / 3), np.random.RandomState(4))
    scores = np.array([truth[part_of != part].mean(axis=0) for part in part_of])
    assert_array_equal(model.thresholds_, hm.tune(truth, scores).thresholds)
