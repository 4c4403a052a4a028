"""`Thresholds.plot`: the right display of one label, of many, and without data."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import halfmax as hm
from halfmax.displays.half_max import HalfMaxDisplay
from halfmax.displays.label_health import LabelHealthDisplay
from halfmax.displays.threshold_curve import ThresholdCurveDisplay

pytestmark = pytest.mark.usefixtures("close_figures")

NAMES = ["cats", "dogs", "emus"]
RNG = np.random.default_rng(0)
YY = RNG.random((200, 3)) < [0.1, 0.3, 0.5]
SS = 1 / (1 + np.exp(-RNG.normal(size=YY.shape) - 1.5 * YY))


def tuned(**options):
    return hm.tune(YY, SS, **({"labels": NAMES} | options))


def loaded(thresholds, path):
    thresholds.save(path)
    return hm.Thresholds.load(path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "thresholds.json"


def test_one_label_is_drawn_as_curves_and_many_as_their_health():
    t = tuned()
    curve = t.plot(label="dogs", n_resamples=0, color="black")
    assert isinstance(curve, ThresholdCurveDisplay)
    assert (curve.label, curve.threshold) == ("dogs", t["dogs"])
    assert curve.line_.get_color() == "black"
    assert isinstance(hm.tune(YY[:, 0], SS[:, 0]).plot(n_resamples=0), ThresholdCurveDisplay)
    health = t.plot(name="three labels")
    assert isinstance(health, LabelHealthDisplay)
    assert health.ax_.get_title() == "three labels"


def test_it_is_drawn_on_the_axes_of_the_caller():
    import matplotlib.pyplot as plt

    axes = plt.subplots(1, 2)[1]
    assert tuned().plot(axes[0]).ax_ is axes[0]
    assert tuned().plot(axes[1], "cats", n_resamples=0).ax_ is axes[1]


def test_a_changed_threshold_is_the_one_that_is_marked():
    t = tuned().replace({"cats": 0.5})
    assert t.plot(label="cats", n_resamples=0).threshold == 0.5
    assert_array_equal(t.plot().share, t.predicted / len(YY))


def test_without_data_labels_are_compared_with_calibrated_ones(path):
    t = loaded(tuned(), path)
    assert isinstance(t.plot(), HalfMaxDisplay)
    some = t.replace({"cats": 0.5}).plot()
    assert np.isnan(some.half_max).tolist() == [True, False, False]


DRAWN = [
    (lambda: tuned().plot(label="cat"), "label must be .* did you mean 'cats'?"),
    (
        lambda: hm.Thresholds.from_dict({"a": 0.3, "b": 0.6}).plot(),
        r"^these thresholds do not have their data in memory, and cannot be compared with "
        r"calibrated probabilities: the scores that these thresholds reach are unknown, and so is "
        r"their F\*/2\. With data, tune\(.*\)\.replace\(t\.to_dict\(\)\)\.plot\(\) draws them$",
    ),
    (
        lambda: hm.Thresholds.from_dict({"a": 0.3, "b": 0.6}).plot(label="a"),
        r"do not know the data .* set by hand\): .* threshold=t\['a'\]\)",
    ),
    (
        lambda: hm.Thresholds.from_dict({"a": 0.3}).plot(),
        r"do not know the data .* threshold=t\.threshold\)",
    ),
    (
        lambda: LabelHealthDisplay.from_thresholds(hm.Thresholds.from_dict({"a": 0.3}), n_rows=9),
        r"must have known counts to be drawn; how many rows those of 'a' predict is unknown",
    ),
    (
        lambda: (tuned(average="micro") | tuned(average="micro")).plot(),
        "the scores that these thresholds reach are unknown",
    ),
]


@pytest.mark.parametrize(("call", "message"), DRAWN)
def test_pictures_that_need_unknown_data_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


ONE, SCORES = YY[:, 0], SS[:, 0]
CLASSES = np.where(ONE, "yes", "no")
KINDS = {
    "many labels": ({"metric": "recall"}, "cats", YY, SS),
    "one classifier": ({}, None, ONE, SCORES),
    "a named class": ({"pos_label": "yes"}, None, CLASSES, SCORES),
    "costs": ({"metric": hm.cost(fp=1, fn=3)}, None, ONE, SCORES),
}


@pytest.mark.parametrize("kind", KINDS)
def test_without_data_the_message_says_how_to_draw_with_them(path, kind):
    options, label, y_true, y_score = KINDS[kind]
    t = loaded(hm.tune(y_true, y_score, labels=NAMES if label else None, **options), path)
    with pytest.raises(ValueError, match="set by hand") as caught:
        t.plot(label=label)
    code = str(caught.value).partition("with data, use ")[2]
    assert code.startswith("CostCurveDisplay" if kind == "costs" else "ThresholdCurveDisplay")
    assert ("pos_label='yes'" in code) == (kind == "a named class")
    if label is not None:
        y_true, y_score = (pd.DataFrame(part, columns=NAMES) for part in (y_true, y_score))
    drawn = eval(f"hm.{code}", {"hm": hm, "t": t, "y_true": y_true, "y_score": y_score})
    assert (drawn.threshold, drawn.metric) == (t.thresholds[0], t.metric)


def test_data_give_numbers_of_ones_own_a_picture():
    own = hm.Thresholds.from_dict(dict.fromkeys(NAMES, 0.5))
    t = tuned().replace(own.to_dict())
    assert_array_equal(t.plot().share, own.predict(SS).mean(axis=0))
