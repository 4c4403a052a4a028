"""Names of labels and metrics are drawn as plain text and do not overlap."""

import inspect
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from display_cases import CURVE, DISPLAYS, HALF, NAMES, SS, YY

import halfmax as hm
from halfmax.displays import lettering
from halfmax.displays.base import name_of, plain
from halfmax.metrics.words import name_of_rule

pytestmark = pytest.mark.usefixtures("close_figures")


@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_are_drawn_as_they_are(name):
    t = hm.tune(YY, SS, labels=NAMES)
    d = CURVE.from_thresholds(t, name)
    d.figure_.draw_without_rendering()  # mathematics that cannot be parsed would be an error
    assert "\n" not in d.ax_.get_title()
    assert len(d.ax_.get_title()) < 75
    assert not mpl.cbook.is_math_text(d.ax_.get_title())
    flagged = HALF.from_diagnosis(hm.diagnose(YY, SS, labels=NAMES))
    flagged.figure_.draw_without_rendering()


def test_names_are_cut_and_escaped():
    assert plain("$x$") == r"\$x\$"
    assert plain("a\nb") == r"a\nb"
    assert plain("x" * 100) == "x" * 27 + "…"
    assert plain(7) == "7"


@pytest.mark.parametrize(
    ("metric", "name", "rule"),
    [
        ("f1", "F1", "F*/2"),
        ("f0.5", "F0.5", "F*/1.25"),
        ("jaccard", "Jaccard", "J*/(1 + J*)"),
        ("recall", "recall", "plug-in threshold"),
        ("cost(fp=1, fn=10)", "cost", "fp/(fp + fn)"),
        ("cost(fp=1, fn=10, tp=2)", "cost", "plug-in threshold"),
        ("$mine", r"\$mine", "plug-in threshold"),
    ],
)
def test_metrics_have_names(metric, name, rule):
    assert (name_of(metric), name_of_rule(metric)) == (name, rule)


def test_named_points_do_not_overlap():
    with plt.rc_context():
        figure, ax = plt.subplots()
    rng = np.random.default_rng(0)
    ax.set(xlim=(0, 1), ylim=(0, 1))
    x, y = rng.random(40), 0.5 + 0.02 * rng.random(40)
    written = lettering.name_points(ax, x, y, [f"a label {j}" for j in range(40)], "black", most=9)
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == len(written) > 2
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


@pytest.mark.parametrize("display", DISPLAYS)
def test_every_array_is_documented(display):
    documented = inspect.getdoc(display)
    for name in display.__dataclass_fields__:
        assert name.startswith("_") or re.search(rf"\b{name}\b", documented), name
