"""The paper reproduced in a folder: the files written, the page, and no partial results."""

import json

import numpy as np
import pytest
from pages import Page
from strategies import compiled

from halfmax._core import extras
from halfmax.paper import reproduce as study
from halfmax.paper.curse.simulation import simulate_curse, simulate_plane
from halfmax.paper.reproduce import reproduce

RUNS = 300


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper") / "made" / "by it"
    page, found = reproduce(folder, runs=RUNS, seed=3)
    return folder, page, found


@compiled
def test_everything_is_written_and_nothing_else(whole):
    folder, page, found = whole
    pictures = {f"{p.key}.{kind}" for p in found.drawn for kind in ("png", "svg")}
    others = {"index.html", "claims.json", "curse.json", "curse.npz"}
    assert {path.name for path in folder.iterdir()} == pictures | others
    assert page == folder / "index.html"


@compiled
def test_the_page_shows_every_figure_and_claim_without_other_sites(whole):
    folder, path, found = whole
    page = Page(path)
    assert all((folder / name).is_file() for name in page.files)
    assert set(page.anchors) <= page.ids
    assert {image["src"] for image in page.images} == {f"{p.key}.svg" for p in found.drawn}
    assert [image["alt"] for image in page.images] == [p.caption for p in found.drawn]
    for claim in found.claims:
        assert claim.key in page.ids
        assert claim.statement in page.words
        assert claim.why in page.words
    assert "http" not in path.read_text(encoding="utf-8")


@compiled
def test_claims_are_written_as_json_too(whole):
    folder, _, found = whole
    content = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    assert [claim["key"] for claim in content["claims"]] == [claim.key for claim in found.claims]
    assert content["agree"] == sum(claim["verdict"] == "pass" for claim in content["claims"])
    assert 0 < content["agree"] < len(content["claims"])
    differ = [claim for claim in content["claims"] if claim["verdict"] == "differs"]
    assert all(claim["why"] and claim["grade"] for claim in differ)
    assert sum(map(len, found.differing.values())) == len(differ)


@compiled
def test_runs_of_the_curse_are_kept(whole):
    folder, _, found = whole
    with np.load(folder / "curse.npz") as kept:
        assert np.array_equal(kept["fractions"], found.curse.fractions)
        assert np.array_equal(kept["plane_high"], found.plane.high)
    summary = json.loads((folder / "curse.json").read_text("utf-8"))["fraction predicted positive"]
    medians = [row["median"] for row in summary]
    assert medians == np.median(found.curse.fractions, axis=1).tolist()


@pytest.fixture
def without_pictures(monkeypatch):
    """Skip the drawing, which takes longest."""
    monkeypatch.setattr(study, "pictures", lambda *_: [])


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("curse")
    page, _ = reproduce(folder, ["curse"], runs=10, seed=1)
    return page


@compiled
def test_the_same_seed_makes_the_same_files(small, tmp_path):
    again, _ = reproduce(tmp_path / "again", ["curse"], runs=10, seed=1)
    files = sorted(path.name for path in small.parent.iterdir())
    assert files == sorted(path.name for path in again.parent.iterdir())
    for name in files:
        assert (small.parent / name).read_bytes() == (again.parent / name).read_bytes()


@compiled
@pytest.mark.usefixtures("without_pictures")
def test_another_seed_makes_other_numbers(small, tmp_path):
    other, _ = reproduce(tmp_path, ["curse"], runs=10, seed=2)
    assert (other.parent / "curse.json").read_bytes() != (small.parent / "curse.json").read_bytes()


@compiled
def test_one_part_makes_a_page_of_its_name(small):
    names = {path.name for path in small.parent.iterdir()}
    pictures = {f"winners-curse{part}.{kind}" for part in ("", "-plane") for kind in ("png", "svg")}
    assert names == pictures | {"curse.html", "curse.json", "curse.npz"}


def test_work_that_fails_writes_nothing(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(study, "check_claims", lambda *_: [])  # takes long, and writes nothing
    monkeypatch.setattr(study, "simulate_plane", fail)
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, runs=RUNS)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("without_pictures")
def test_a_folder_in_the_place_of_a_file_stops_everything(tmp_path):
    (tmp_path / "curse.json").mkdir()
    with pytest.raises(OSError, match=r"curse\.json: it is a folder"):
        reproduce(tmp_path, ["curse"], runs=1)
    assert [path.name for path in tmp_path.iterdir()] == ["curse.json"]


@pytest.mark.usefixtures("without_pictures")
def test_other_files_of_the_folder_stay(tmp_path):
    mine = tmp_path / "notes.txt"
    mine.write_text("mine")
    reproduce(tmp_path, ["curse"], runs=1)
    assert mine.read_text() == "mine"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"runs": 0}, ValueError, r"runs must be a whole number, 1 or more; got 0"),
        ({"runs": 2.5}, ValueError, r"runs must be a whole number.*2\.5"),
        ({"runs": 299}, ValueError, r"runs must be 300 or more to judge the claims; got 299"),
        ({"seed": -1}, ValueError, r"seed must be a whole number, 0 or more; got -1"),
        ({"parts": ["figure"]}, ValueError, r"parts must be some of 'figures', 'claims' and"),
        ({"parts": []}, ValueError, r"parts must be some of"),
    ],
)
def test_bad_options_are_refused_before_the_work(tmp_path, options, error, message):
    folder = tmp_path / "new"
    with pytest.raises(error, match=message):
        reproduce(folder, **options)
    assert not folder.exists()


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_folder_that_cannot_be_written_is_refused(tmp_path, below):
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(OSError, match=r"out must be a folder that can be written; .*file"):
        reproduce(file / below, runs=RUNS)
    assert file.read_text() == "mine"


def test_the_extra_is_named_where_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match=r"'jinja2' and 'matplotlib'.*halfmax\[report\]"):
        reproduce(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_simulation_of_the_study_is_that_of_the_library():
    curse = simulate_curse(runs=20, seed=5, n=1000)
    assert curse.fractions.shape == (7, 20)
    rows = curse.summary()
    assert [row["base rate"] for row in rows] == list(curse.base_rates)
    assert rows[-1]["below half"] == 0.0
    assert rows[0]["first few"] == 1.0


def test_the_plane_turns_where_it_should():
    plane = simulate_plane(runs=200)
    assert plane.runs == 20
    assert plane.high.shape == plane.top.shape == (len(plane.base_rates), len(plane.sizes))
    n, b = np.meshgrid(plane.sizes.astype(float), plane.base_rates)
    assert plane.high[b > 4 * n ** (-1 / 3)].max() < 0.05
    assert plane.high[(b < 0.03 * n ** (-1 / 3)) & (b * n > 100)].min() > 0.7
    assert plane.top[(b > 6 * n**-0.5) & (b * n > 30)].max() < 0.05
    assert plane.top[(b < 0.1 * n**-0.5) & (b * n > 10)].min() > 0.25
