"""Errors for bad probabilities, limits and joint distributions name the problem clearly."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import halfmax as hm

pytestmark = pytest.mark.kernels

NAN, INF = float("nan"), float("inf")
P, P2 = [0.1, 0.5, 0.9], [[0.1, 0.5], [0.9, 0.2], [0.3, 0.7]]
Q = [[0.2, 0.1], [0.3, 0.1]]  # one item with probability 0.5, both with 0.1
NOT_PROBABILITIES = (
    r"must be probabilities, from 0 to 1.*for other scores, use tune, which needs labels"
)


def decide(p=P, **options):
    return lambda: hm.decide(p, **options)


def curve(p=P, **options):
    return lambda: hm.expected_curve(p, **options)


def joint(q=Q, p_empty=0.4, **options):
    return lambda: hm.decide_joint(q, p_empty, **options)


def draws(values, **options):
    return lambda: hm.joint_from_samples(values, **options)


# What is wrong, the call, the error, and what its message must say.
BAD = [
    ("above one", decide([0.1, 1.5]), ValueError, r"y_prob\[1\] is 1.5.*tune"),
    ("above one by a hair", decide([0.1, np.nextafter(1, 2)]), ValueError, NOT_PROBABILITIES),
    ("negative", decide([-0.25, 0.5]), ValueError, r"y_prob\[0\] is -0.25"),
    ("a score", decide([[0.5, 0.5], [0.5, -3.0]]), ValueError, r"y_prob\[1, 1\] is -3.0"),
    ("NaN", decide([0.1, NAN]), ValueError, r"from 0 to 1; y_prob\[1\] is nan"),
    ("infinite", decide([0.1, INF]), ValueError, r"y_prob\[1\] is inf"),
    ("minus infinity", decide([0.1, -INF]), ValueError, r"y_prob\[1\] is -inf"),
    ("percent", decide(sparse.csr_array([[0, 0], [0, 55]])), ValueError, r"y_prob\[1, 1\] is 55"),
    ("NaN in a frame", decide(pl.DataFrame({"a": [0.1, NAN]})), ValueError, r"y_prob\[1, 0\]"),
    ("null", decide(pd.DataFrame({"a": [0.1, None]})), ValueError, r"y_prob\['a'\].*missing"),
    ("words", decide(["a", "b"]), TypeError, r"y_prob must be numbers"),
    ("nothing", decide([]), ValueError, r"y_prob must not be empty"),
    (
        "three dimensions",
        decide([[P]]),
        ValueError,
        r"y_prob must have 1 .*or 2 .*dimensions; got 3",
    ),
    ("curve above one", curve([2]), ValueError, r"p\[0\] is 2.*tune"),
    ("curve of NaN", curve([0.5, NAN]), ValueError, r"p\[1\] is nan"),
    ("curve of a matrix", curve(P2), ValueError, r"1 dimension, the items of one batch.*\(3, 2\)"),
    ("curve of nothing", curve([]), ValueError, r"p must not be empty"),
    ("unknown average", decide(P2, average="mean"), ValueError, r"'macro', 'micro' or 'samples'"),
    ("binary matrix", decide(P2, average="binary"), ValueError, r"average must be"),
    ("unknown metric", decide(metric="f"), ValueError, r"metric must be 'f1'"),
    (
        "a metric of one's own",
        decide(metric=hm.Metric("mine", lambda tp, *_: tp)),
        ValueError,
        r"expectation is known in closed form.*'jaccard'.*got Metric\('mine'\)",
    ),
    (
        "another ratio",
        curve(metric=hm.LinearFractional("mine", (2, 0, 0, 0), (3, 1, 1, 0))),
        ValueError,
        r"any 'f<beta>' or FBeta, 'jaccard'",
    ),
    ("0/0 left out", decide(zero_division=NAN), ValueError, r"zero_division must be a number"),
    ("no 0/0", curve(zero_division=None), ValueError, r"zero_division must be a number.*None"),
    ("0/0 of two", decide(zero_division=2), ValueError, r"zero_division must be.*0 to 1.*got 2"),
    ("min above max", decide(min_k=2, max_k=1), ValueError, r"min_k.*max_k; got 2 and 1"),
    ("negative max", decide(max_k=-1), ValueError, r"max_k must be a whole number.*got -1"),
    ("negative min", decide(min_k=-1), ValueError, r"min_k must be a whole number.*got -1"),
    ("half an item", decide(min_k=0.5), ValueError, r"min_k must be a whole number.*got 0.5"),
    ("NaN items", decide(max_k=NAN), ValueError, r"max_k must be a whole number.*got nan"),
    ("infinitely many", decide(max_k=INF), ValueError, r"max_k must be a whole number.*got inf"),
    ("a word of items", decide(max_k="two"), ValueError, r"max_k must be a whole number"),
    ("a yes", decide(min_k=True), ValueError, r"min_k must be a whole number.*got True"),
    ("more than there are", decide(min_k=4), ValueError, r"the number of items; got 4 and 3"),
    (
        "more than a row has",
        decide(P2, average="samples", min_k=3),
        ValueError,
        r"the number of items in batch 0; got 3 and 2",
    ),
    (
        "min above max in one row",
        decide(P2, average="samples", min_k=[0, 2, 0], max_k=1),
        ValueError,
        r"above max_k in batch 1; got 2 and 1",
    ),
    (
        "limits for other batches",
        decide(P2, average="macro", max_k=[1, 2, 1]),
        ValueError,
        r"max_k must be one number, or one for each of the 2 batches; got shape \(3,\)",
    ),
    ("a limit for each item", decide(max_k=P), ValueError, r"max_k must be a whole number"),
    ("odd progress", decide(progress=3), TypeError, r"progress must be True.*got 3"),
    ("odd progress, curve", curve(progress="yes"), TypeError, r"progress must be True"),
    ("odd progress, joint", joint(progress=[]), TypeError, r"progress must be True"),
    # joint distributions
    ("negative q", joint([[0.2, -0.1], [0.3, 0.1]]), ValueError, r"q\[0, 1\] is -0.1"),
    ("NaN in q", joint([[NAN, 0.1], [0.3, 0.1]]), ValueError, r"none negative; q\[0, 0\] is nan"),
    (
        "negative q of an instance",
        joint([Q, [[0.2, 0.1], [0.3, -0.5]]], [0.4, 0.4]),
        ValueError,
        r"q\[1, 1, 1\] is -0.5",
    ),
    (
        "both are true, but one is not",
        joint([[0.2, 0.3], [0.3, 0.1]], 0.3),
        ValueError,
        r"q\[0, 1\] is 0.3, but exactly 2 items are true with probability 0.2",
    ),
    ("too much", joint(p_empty=0.9), ValueError, r"must add up to 1; they add up to 1.5"),
    ("too little", joint(p_empty=0.0), ValueError, r"must add up to 1; they add up to 0.6"),
    (
        "too little in one instance",
        joint([Q, Q], [0.4, 0.2]),
        ValueError,
        r"add up to 1 in instance 1; they add up to 0.8",
    ),
    ("no probability of none", joint(p_empty=NAN), ValueError, r"p_empty must be from 0 to 1"),
    ("negative p_empty", joint(p_empty=-0.1), ValueError, r"p_empty must be from 0 to 1"),
    ("a word for p_empty", joint(p_empty="none"), TypeError, r"p_empty must be numbers"),
    ("two for one", joint(p_empty=[0.4, 0.4]), ValueError, r"each of the 1 instances.*\(2,\)"),
    ("too much without p_empty", joint([[0.9], [0.9]], None), ValueError, r"they add up to 1.8"),
    ("flat q", joint([0.5, 0.5]), ValueError, r"items x sizes.*got 1, shape \(2,\)"),
    (
        "labels first",
        lambda: hm.decide([0, 1, 1], np.array(P)),
        ValueError,
        r"got ndarray of 3; decide and expected_curve take no labels; tune and score do",
    ),
    ("an average for a metric", decide(metric="samples"), ValueError, r"average='samples'"),
    (
        "a list of two-column arrays",
        decide(np.full((4, 3, 2), 0.5)),
        ValueError,
        r"shape \(4, 3, 2\); .*np.column_stack\(\[p\[:, 1\] for p",
    ),
    ("rounded above one", decide([1 + 1e-9]), ValueError, r"np.clip\(y_prob, 0, 1\)"),
    ("deep q", joint([[Q]]), ValueError, r"items x sizes.*got 4"),
    ("ragged q", joint([[0.5], [0.1, 0.2]]), ValueError, r"q must have rows of equal length"),
    ("q of words", joint([["a"]]), TypeError, r"q must be numbers"),
    ("no q", joint([[]]), ValueError, r"q must not be empty"),
    ("more sizes than items", joint([[0.5, 0.1]]), ValueError, r"1 items and 2 sizes"),
    ("joint Jaccard", joint(metric="jaccard"), ValueError, r"'jaccard' of dependent items"),
    (
        "joint metric that is not known",
        joint(metric="auc"),
        ValueError,
        r"such as 'f0.5' or 'f2', 'precision', 'recall' or 'accuracy'; got 'auc'; that one",
    ),
    (
        "joint metric without a closed form",
        joint(metric="mcc"),
        ValueError,
        r"any 'f<beta>' or FBeta, 'precision', 'recall' or 'accuracy'; got 'mcc'$",
    ),
    ("joint limits", joint(min_k=2, max_k=1), ValueError, r"min_k.*max_k; got 2 and 1"),
    ("limits of instances", joint(max_k=[1, 2]), ValueError, r"max_k must be one number"),
    ("draws of probabilities", draws([[0.5, 1.0]]), ValueError, r"draws must hold only 0 and 1"),
    ("one draw, flat", draws([1, 0]), ValueError, r"draws x items; got shape \(2,\)"),
    ("no draws", draws(np.zeros((0, 3))), ValueError, r"draws must not be empty"),
    ("no instances", draws(np.zeros((0, 2, 3))), ValueError, r"draws must not be empty"),
    (
        "weights of others",
        draws([[1, 0]], sample_weight=[1, 2]),
        ValueError,
        r"one weight for each of the 1 rows",
    ),
    ("larger draws", draws([[1, 1]], max_size=1), ValueError, r"largest draw, which has 2.*got 1"),
    ("no sizes", draws([[0, 0]], max_size=0), ValueError, r"max_size must be.*1 to the 2 items"),
    ("half a size", draws([[0, 0]], max_size=1.5), ValueError, r"max_size must be a whole number"),
]


@pytest.mark.parametrize(
    ("call", "error", "message"), [row[1:] for row in BAD], ids=[row[0] for row in BAD]
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_decision_for_many_batches_has_no_single_threshold():
    with pytest.raises(AttributeError, match=r"each of the 2 batches.*\.thresholds"):
        _ = hm.decide(P2).threshold


def test_two_columns_of_one_classifier_cause_a_warning():
    p = np.random.default_rng(0).random(30)
    with pytest.warns(hm.HalfmaxWarning, match=r"pass its positive class, y_prob\[:, 1\]"):
        hm.decide(np.column_stack([1 - p, p]))
    hm.decide(np.column_stack([1 - p, p]) * 0.9)


def test_p_empty_may_be_left_out_or_be_one_for_all():
    expected = hm.decide_joint(Q, 0.4, zero_division=1.0)
    draws = [[1, 0]] * 2 + [[0, 1]] * 3 + [[1, 1]] + [[0, 0]] * 4
    for d in (
        hm.decide_joint(Q, zero_division=1.0),
        hm.decide_joint([Q, Q], 0.4, zero_division=1.0),
        hm.decide_joint(hm.joint_from_samples(draws), zero_division=1.0),
    ):
        assert abs(d.expected_score - expected.expected_score) < 1e-12


def test_sums_of_estimates_may_be_off_by_rounding():
    q = np.array(Q) * (1 + 1e-9)
    assert hm.decide_joint(q, 0.4).expected_score > 0
