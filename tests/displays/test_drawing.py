"""Displays draw on the axes that the user passes, or on new ones in their own style."""

import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from display_cases import (
    CLASSES,
    COST,
    COSTS,
    CREATE,
    CURSE,
    CURVE,
    CV,
    DISPLAYS,
    EXPECTED,
    HALF,
    HEALTH,
    LABEL_CURVES,
    MODEL,
    PR,
    REGION,
    SS,
    YY,
    S,
    Y,
    texts,
)
from scipy import stats

import halfmax as hm
from halfmax.displays.assessed_score import AssessedScore
from halfmax.displays.base import name_of
from halfmax.displays.style import CURVES, SHADES
from tests.strategies import compiled

pytestmark = pytest.mark.usefixtures("close_figures")


@pytest.mark.parametrize("kind", CREATE)
def test_displays_draw_on_the_axes_of_the_user_and_keep_the_settings(kind):
    with mpl.rc_context({"lines.linewidth": 9, "font.size": 20}):
        before = dict(mpl.rcParams)
        figure, axes = plt.subplots(1, 2)
        drawn = CREATE[kind](ax=axes[1])
        assert dict(mpl.rcParams) == before
    assert drawn.ax_ is axes[1]
    assert drawn.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    assert not axes[0].has_data()
    assert drawn.plot(axes[0]) is drawn
    assert drawn.ax_ is axes[0]


@pytest.mark.parametrize("kind", CREATE)
def test_new_figures_are_known_to_pyplot_and_in_the_style(kind):
    with mpl.rc_context({"xtick.labelsize": 30, "axes.facecolor": "black"}):
        before = dict(mpl.rcParams)
        drawn = CREATE[kind]()
        assert dict(mpl.rcParams) == before
        drawn.figure_.draw_without_rendering()
    assert plt.gcf() is drawn.figure_
    shown = drawn.figure_.axes[-1]
    assert shown.get_facecolor() == (1, 1, 1, 1)
    assert {label.get_size() for label in shown.get_xticklabels()} == {9.0}


@pytest.mark.parametrize("kind", CREATE)
def test_a_title_can_be_passed(kind):
    assert any(
        "of $mine_1" in text.replace("\\", "") for text in texts(CREATE[kind](name="of $mine_1"))
    )


@pytest.mark.parametrize("metric", ["f1", "precision", "recall"])
def test_curves_have_the_colours_that_pages_use_and_are_drawn_once(metric):
    drawn = CURVE.from_predictions(Y, S, metric)
    own = name_of(metric)
    kinds = {own: "score"} | {name: name for name in ("precision", "recall") if name != own}
    curves = [line for line in drawn.ax_.lines if line.get_label() in kinds]
    assert len(curves) == len(kinds)
    for line in curves:
        assert line.get_color() == SHADES[CURVES[kinds[line.get_label()]][0]]


def test_the_line_can_be_styled():
    drawn = CURVE.from_predictions(Y, S, color="black", linewidth=7)
    assert (drawn.line_.get_color(), drawn.line_.get_linewidth()) == ("black", 7)


@pytest.mark.parametrize(
    ("kind", "aliases"),
    [
        ("curve", {"c": "black", "lw": 7, "ls": "--", "ds": "default"}),
        ("expected", {"c": "black", "lw": 7, "ls": "--", "ms": 3, "ds": "steps-mid"}),
    ],
)
def test_the_line_takes_the_short_names_of_matplotlib(kind, aliases):
    drawn = CREATE[kind](**aliases)
    for alias, value in aliases.items():
        assert mpl.artist.getp(drawn.line_, alias) == value, alias
    same = CREATE[kind](color="black", linewidth=7).line_
    assert (same.get_color(), same.get_linewidth()) == ("black", 7)


def test_a_property_passed_by_both_its_names_is_refused():
    with pytest.raises(TypeError, match="Got both"):
        CREATE["curve"](c="black", color="red")


@pytest.mark.parametrize("kind", CREATE)
def test_a_display_is_one_line_when_printed(kind):
    drawn = CREATE[kind]()
    shown = repr(drawn)
    assert shown.startswith(f"{type(drawn).__name__}(")
    assert len(shown.splitlines()) == 1
    assert len(shown) < 550
    assert "[" not in shown  # no array in full


def test_repr_of_a_display():
    d = CURVE.from_predictions([0, 1, 0, 1], [0.1, 0.4, 0.5, 0.8], n_resamples=0)
    assert repr(d) == (
        "ThresholdCurveDisplay(thresholds=<4 array>, scores=<4 array>, precision=<4 array>, "
        "recall=<4 array>, band=None, level=0.95, threshold=0.4, score=0.8, best_threshold=0.4, "
        "best_score=0.8, half_max=0.4, base_rate=0.5, everyone=0.666667, metric='f1', label=None, "
        "pos_label=None, folds=(), name=None)"
    )


def of_label_curves(metric):
    return {
        "from_predictions": lambda cls: cls.from_predictions(Y, S, *metric),
        "from_estimator": lambda cls: cls.from_estimator(MODEL, SS, Y, *metric),
        "from_cv_results": lambda cls: cls.from_cv_results(CV, SS, CLASSES, *metric),
        "from_thresholds": lambda cls: cls.from_thresholds(hm.tune(Y, S, *metric)),
    }


def ways_to_create():
    """Every way to create each display: its name, and a call for any class that has it."""
    tuned, decision = hm.tune(YY, SS), hm.decide(SS, average="samples")
    diagnosis, densities = hm.diagnose(YY, SS), (stats.norm(2), stats.norm(), 0.1)
    return {
        **{display: of_label_curves(metric) for display, metric in LABEL_CURVES.items()},
        EXPECTED: {"from_probabilities": lambda cls: cls.from_probabilities(S)},
        HALF: {
            "from_thresholds": lambda cls: cls.from_thresholds(tuned),
            "from_predictions": lambda cls: cls.from_predictions(YY, SS),
            "from_estimator": lambda cls: cls.from_estimator(MODEL, SS, Y),
            "from_diagnosis": lambda cls: cls.from_diagnosis(diagnosis),
            "from_decision": lambda cls: cls.from_decision(decision),
        },
        HEALTH: {
            "from_thresholds": lambda cls: cls.from_thresholds(tuned),
            "from_predictions": lambda cls: cls.from_predictions(YY, SS),
            "from_estimator": lambda cls: cls.from_estimator(MODEL, SS, Y),
            "from_diagnosis": lambda cls: cls.from_diagnosis(diagnosis),
        },
        REGION: {
            "from_region": lambda cls: cls.from_region(hm.decision_region(*densities)),
            "from_densities": lambda cls: cls.from_densities(*densities),
        },
        CURSE: {"from_simulation": lambda cls: cls.from_simulation(100, (0.1, 0.5), 20)},
        AssessedScore: {
            "from_assessment": lambda cls: cls.from_assessment(hm.assess(Y, S, n_resamples=20))
        },
    }


@pytest.mark.parametrize("display", DISPLAYS)
def test_subclasses_create_their_own_kind(display):
    ways = ways_to_create()[display]
    assert set(ways) == {name for name in dir(display) if name.startswith("from_")}
    own = type("Own", (display,), {})
    for name, create in ways.items():
        drawn = create(own)
        assert type(drawn) is own, name
        assert drawn.plot() is drawn
        plt.close("all")


def test_a_drawing_that_fails_leaves_no_figure():
    with pytest.raises(AttributeError):
        CURVE.from_predictions(Y, S, no_such_option=1)
    assert plt.get_fignums() == []


@pytest.mark.parametrize("kind", CREATE)
def test_without_matplotlib_the_error_says_what_to_install(kind, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'halfmax\[report\]'"):
        CREATE[kind]()


def test_importing_displays_loads_no_matplotlib():
    program = (
        "import sys, halfmax as hm, halfmax.displays.notebook\n"
        "[getattr(hm, name) for name in hm.__all__ if name.endswith('Display')]\n"
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# Awkward data are drawn without a warning.


ROWS, RNG = np.arange(60), np.random.default_rng(1)
AWKWARD = {
    "one positive": (ROWS == 7, RNG.random(60)),
    "no positives": (np.zeros(60, int), RNG.random(60)),
    "all positive": (np.ones(60, int), RNG.random(60)),
    "constant": (ROWS % 3 == 0, np.full(60, 0.4)),
    "all zero": (ROWS % 3 == 0, np.zeros(60)),
    "log-odds": (ROWS % 3 == 0, RNG.normal(size=60) * 9 - 30),
    "tiny": (ROWS % 3 == 0, 1e-6 * RNG.random(60)),
    "huge": (ROWS % 3 == 0, 1e300 * RNG.random(60)),
    "one row": (np.ones(1, int), np.array([0.3])),
    "-inf": (ROWS % 3 == 0, np.where(ROWS % 2, -np.inf, RNG.random(60))),
}


@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_data_are_drawn(case):
    y, s = AWKWARD[case]
    drawn = [
        CURVE.from_predictions(y, s),
        PR.from_predictions(y, s),
        COSTS.from_predictions(y, s, COST),
        COSTS.from_predictions(y, s, hm.cost(fp=1, fn=np.arange(1.0, len(y) + 1))),
        HEALTH.from_predictions(y[:, None], s[:, None]),
        AssessedScore.from_assessment(hm.assess(y, s, n_resamples=20)),
    ]
    if s.min() >= 0 and s.max() <= 1:
        drawn.append(HALF.from_thresholds(hm.tune(y, s)))
        drawn.append(EXPECTED.from_probabilities(s))
    for display in drawn:
        display.figure_.draw_without_rendering()


@compiled
def test_thirty_thousand_labels_are_an_image_inside_a_vector_file(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random((100, 26_853)) < 0.02
    drawn = HEALTH.from_predictions(y, rng.random(y.shape))
    drawn.figure_.savefig(tmp_path / "health.svg")
    assert (tmp_path / "health.svg").stat().st_size < 500_000
