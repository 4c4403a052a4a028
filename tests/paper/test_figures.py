"""The figures are right, and their files are whole, valid and reproducible."""

import os
import subprocess
import sys
from functools import partial
from xml.etree import ElementTree

import numpy as np
import pytest

import halfmax as hm
from halfmax.displays import style
from halfmax.paper.curse.simulation import Curse, Plane
from halfmax.paper.figures import data, drawing
from halfmax.paper.figures import pictures as figures

RATES = (1e-6, 1e-3, 0.5)
KEYS = [
    "f1-concave-in-tp",
    "accuracy-linear-in-tp",
    "f1-surface",
    "f1-convex-in-tn",
    "guessing-by-base-rate",
    "winners-curse",
    "winners-curse-plane",
    "decision-regions",
    "theorem-two-gap",
    "threshold-curve",
    "expected-curve",
    "half-max-labels",
    "label-health",
]


def made_up_curse():
    fractions = np.random.default_rng(0).random((len(RATES), 50)).round(3)
    fractions[0, :10], fractions[-1] = 0.0, 1.0
    return Curse(n=1000, runs=50, seed=0, base_rates=RATES, fractions=fractions)


def made_up_plane():
    sizes, rates = np.array([10, 100, 1000, 10_000]), np.array([0.001, 0.01, 0.1, 0.5])
    high = np.arange(16).reshape(4, 4) / 16
    return Plane(runs=16, seed=0, sizes=sizes, base_rates=rates, high=high, top=high.T)


@pytest.fixture(scope="module")
def pictures():
    with pytest.MonkeyPatch.context() as patch:  # the full size takes long without the compiler
        patch.setattr(data, "gaps", partial(data.gaps, (10, 32, 100), 1000))
        patch.setattr(data, "half_calibrated", partial(data.half_calibrated, 400, 30))
        patch.setattr(data, "of_all_rates", partial(data.of_all_rates, 200, 50))
        return {p.key: p for p in figures.pictures(made_up_curse(), made_up_plane())}


@pytest.fixture(scope="module")
def folder(pictures, tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    for picture in pictures.values():
        figures.save(picture, folder)
    return folder


def drawn(picture):
    with style.styled():
        figure = style.new_figure(picture.size)
        picture.draw(figure)
    return figure


def lines(picture):
    """The lines of the first axes by their label."""
    return {line.get_label(): line.get_xydata().T for line in drawn(picture).axes[0].get_lines()}


# What is drawn.


def bends(picture):
    return np.array([np.diff(y, 2) for _, y in lines(picture).values()])


def test_f1_is_concave_in_tp(pictures):
    assert (bends(pictures["f1-concave-in-tp"]) < 0).all()


def test_accuracy_is_linear_in_tp_and_pays_one_for_one(pictures):
    assert abs(bends(pictures["accuracy-linear-in-tp"])).max() < 1e-12
    for x, y in lines(pictures["accuracy-linear-in-tp"]).values():
        np.testing.assert_allclose(np.diff(y), np.diff(x))


def test_f1_is_convex_in_tn(pictures):
    assert (bends(pictures["f1-convex-in-tn"]) > 0).all()


@pytest.mark.parametrize("fp", data.FALSE_POSITIVES)
def test_lines_of_tp_end_where_all_positives_are_found(pictures, fp):
    b = data.BASE_RATE
    x, f1 = lines(pictures["f1-concave-in-tp"])[f"fp = {fp:.2f}"]
    assert (x[0], x[-1], f1[0]) == (0.0, b, 0.0)
    assert f1[-1] == pytest.approx(2 * b / (2 * b + fp))
    _, accuracy = lines(pictures["accuracy-linear-in-tp"])[f"fp = {fp:.2f}"]
    assert accuracy[[0, -1]] == pytest.approx([1 - b - fp, 1 - fp])


@pytest.mark.parametrize("fn", data.FALSE_NEGATIVES)
def test_lines_of_tn_go_from_all_predicted_to_no_false_alarm(pictures, fn):
    b = data.BASE_RATE
    x, f1 = lines(pictures["f1-convex-in-tn"])[f"fn = {fn:.2f}"]
    tp = b - fn
    assert (x[0], x[-1]) == (0.0, 1 - b)
    assert f1[[0, -1]] == pytest.approx([2 * tp / (2 * tp + fn + 1 - b), 2 * tp / (2 * tp + fn)])


def test_the_surface_agrees_with_its_definition_and_is_highest_when_perfect():
    found, b = data.surface(), data.BASE_RATE
    tp, fp = np.meshgrid(found.tp, found.fp)
    np.testing.assert_allclose(found.f1, 2 * tp / (2 * tp + fp + (b - tp)))
    assert found.f1.max() == found.f1[0, -1] == 1.0


def test_guessing_follows_the_formula_and_marks_are_exact(pictures):
    shown = lines(pictures["guessing-by-base-rate"])
    b, f1 = shown["2b / (1 + b)"]
    np.testing.assert_allclose(f1, 2 * b / (1 + b))
    for n in data.BATCH_SIZES:
        b, marks = shown[f"best decision for {n} items, exact"]
        exact = [hm.expected_curve(np.full(n, rate)).max() for rate in b]
        np.testing.assert_allclose(marks, exact, rtol=1e-12)
        assert (marks < 2 * b / (1 + b)).all()


def test_the_curse_marks_medians(pictures):
    medians = np.median(made_up_curse().fractions, axis=1)
    axes = drawn(pictures["winners-curse"]).axes[1:]  # the first is divided into these
    assert [ax.get_lines()[0].get_xdata()[0] for ax in axes[::2]] == medians.tolist()


def test_the_plane_shows_both_shares_and_the_lines_said_to_bound_them(pictures):
    plane, axes = made_up_plane(), drawn(pictures["winners-curse-plane"]).axes
    for ax, shares in zip(axes, (plane.high, plane.top), strict=False):
        np.testing.assert_array_equal(ax.collections[0].get_array(), shares)
        shown = [line.get_ydata() for line in ax.get_lines()]
        np.testing.assert_allclose(shown[0], (np.sqrt(1 + 8 / plane.sizes) - 1) / 2)
        np.testing.assert_allclose(shown[1], plane.sizes**-0.5)
    edges = drawing._edges(plane.base_rates)
    assert (edges[:-1] < plane.base_rates).all()
    assert (edges[1:] > plane.base_rates).all()


def test_regions_are_where_the_positive_density_reaches_j_times_the_other():
    one, two = data.regions().values()
    assert (len(one.intervals), len(two.intervals)) == (1, 2)
    for region in (one, two):
        s = region.scores
        inside = np.any([(s >= low) & (s <= high) for low, high in region.intervals], axis=0)
        np.testing.assert_array_equal(inside, region.positive >= region.cut * region.negative)
        assert region.score == pytest.approx(2 * region.cut / (1 + region.cut))


def test_the_gap_of_theorem_two_falls_as_one_by_n():
    found = data.gaps((10, 100), cells=4000)
    assert (found.threshold > 0).all()
    assert (found.lost >= 0).all()
    assert 5 < found.threshold[0] / found.threshold[1] < 20


# Words.


def test_pictures_come_in_the_order_of_the_paper(pictures):
    assert list(pictures) == KEYS
    sources = [p.source for p in pictures.values()]
    assert sources[:6] == [f"Figure {k} of the paper" for k in (2, 3, 4, 5, 6, 8)]
    assert set(sources[6:]) == {"not in the paper"}


@pytest.mark.parametrize("key", KEYS)
def test_every_picture_says_what_to_see(pictures, key):
    picture = pictures[key]
    assert 5 <= len(picture.title) <= 60
    assert 80 < len(picture.caption) < 450
    assert picture.caption.endswith(".")
    assert "  " not in picture.caption


# Files.


@pytest.mark.parametrize("key", KEYS)
def test_files_are_valid(folder, pictures, key):
    png = (folder / f"{key}.png").read_bytes()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert png.endswith(b"IEND\xae\x42\x60\x82")
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    assert (width, height) == tuple(round(150 * inches) for inches in pictures[key].size)
    root = ElementTree.parse(folder / f"{key}.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.findtext("{http://www.w3.org/2000/svg}title") == pictures[key].title


def test_only_the_pictures_are_written(folder):
    names = {path.name for path in folder.iterdir()}
    assert names == {f"{key}.{kind}" for key in KEYS for kind in ("png", "svg")}


@pytest.mark.parametrize("key", KEYS)
def test_a_picture_drawn_twice_is_the_same_file(folder, pictures, tmp_path, key):
    for path in figures.save(pictures[key], tmp_path):
        assert path.read_bytes() == (folder / path.name).read_bytes()


def test_the_paths_are_returned(pictures, tmp_path):
    key = "accuracy-linear-in-tp"
    assert figures.save(pictures[key], tmp_path) == (
        tmp_path / f"{key}.png",
        tmp_path / f"{key}.svg",
    )


def test_a_disk_that_is_full_leaves_nothing_behind(pictures, tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        figures.save(pictures["accuracy-linear-in-tp"], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_an_error(pictures, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        figures.save(pictures["accuracy-linear-in-tp"], tmp_path / "nowhere")


# matplotlib is left as it was, and is needed for drawing only.


def test_settings_of_the_user_neither_matter_nor_change(folder, pictures, tmp_path):
    import matplotlib as mpl

    with mpl.rc_context({"lines.linewidth": 9, "font.size": 20, "svg.fonttype": "none"}):
        before = dict(mpl.rcParams)
        png, svg = figures.save(pictures["accuracy-linear-in-tp"], tmp_path)
        assert dict(mpl.rcParams) == before
    assert png.read_bytes() == (folder / png.name).read_bytes()
    assert svg.read_bytes() == (folder / svg.name).read_bytes()


def test_drawing_never_loads_pyplot():
    program = (
        "import sys, halfmax.displays.style as s\n"
        "with s.styled():\n"
        "    s.render(s.new_figure(s.NARROW), 'png')\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_figures_can_be_imported_without_matplotlib():
    program = "import sys, halfmax.paper.figures.pictures; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_without_matplotlib_the_error_says_what_to_install(pictures, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'halfmax\[report\]'"):
        figures.save(pictures["f1-surface"], tmp_path)
    assert list(tmp_path.iterdir()) == []


# The style.


def luminance(colour):
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("colour", [style.BLUE, style.ORANGE, style.GREEN, style.INK])
def test_colours_contrast_with_white_in_grey_too(colour):
    assert 1.05 / (luminance(colour) + 0.05) > 3.0


def test_lines_of_a_family_differ_without_colour():
    assert len({look["linestyle"] for look in style.LINES}) == len(style.LINES)
    assert len(set(style.MARKERS)) == len(style.MARKERS)
