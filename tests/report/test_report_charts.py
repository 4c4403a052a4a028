"""Charts are valid Vega-Lite, and Vega is there or its absence is explained."""

import json
import re

import altair as alt
import jsonschema
import pytest
from report_cases import CASES, QUICK

from halfmax.report import vega

KINDS = ["binary", "custom", "log-odds", "macro", "new data", "weights"]
ALL = {"curve", "curve-log", "half-max", "health", "honest", "resampled"}


def charts(name, folder):
    case = CASES[name]()
    text = case.tuned.report(folder / "report.html", **(QUICK | case.options)).read_text("utf-8")
    found = re.search(r'<script[^>]* id="charts">(.*?)</script>', text, re.DOTALL)
    return json.loads(found[1])


@pytest.mark.parametrize("name", KINDS)
def test_every_chart_is_valid(name, tmp_path):
    found = charts(name, tmp_path)
    assert found.keys() == (ALL if name in ("macro", "weights") else ALL & found.keys())
    for spec in found.values():
        alt.Chart.from_dict(spec)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda chart: chart["layer"][0]["mark"].update(colour="red"),
        lambda chart: chart["layer"][0]["encoding"]["x"].update(type="quantity"),
        lambda chart: chart["layer"][0]["encoding"].update(z=1),
        lambda chart: chart["config"]["axis"].update(labelSize=12),
        lambda chart: chart.update(heigth=1),
    ],
)
def test_a_misspelt_chart_is_not(spoil, tmp_path):
    chart = charts("macro", tmp_path)["health"]
    spoil(chart)
    with pytest.raises(jsonschema.ValidationError):
        alt.Chart.from_dict(chart)


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A source tree in which Vega has not been bundled."""
    monkeypatch.setattr(vega, "_FILE", tmp_path / "vega.js")
    vega.vega.cache_clear()
    yield tmp_path / "vega.js"
    vega.vega.cache_clear()


def test_vega_is_read_from_its_file(bare):
    bare.write_text("const é = 1;", "utf-8")
    vega.require_vega()
    assert vega.vega() == "const é = 1;"


@pytest.mark.usefixtures("bare")
def test_without_its_file_vega_is_bundled():
    vega.require_vega()
    text = vega.vega()
    assert "vegaEmbed" in text
    assert "</script" not in text
    assert "<!--" not in text


@pytest.mark.usefixtures("bare")
def test_without_file_and_bundler_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(vega, "find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match="pip install vl-convert-python"):
        CASES["binary"]().tuned.report(tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []
