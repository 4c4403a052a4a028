"""Results show a small picture in notebooks."""

import base64
import pickle
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from display_cases import HEALTH, NAMES, SS, YY, S, Y
from scipy import stats

import halfmax as hm
from halfmax.displays import notebook

pytestmark = pytest.mark.usefixtures("close_figures")


def image_in(page):
    found = re.findall(
        r'<img class="halfmax-picture" alt="([^"<>]+)" style="[^"]+" '
        r'src="data:image/png;base64,([^"]+)">',
        page,
    )
    assert page.count("<img") == len(found) == 1
    alt, content = found[0]
    return alt, base64.b64decode(content)


RESULTS = {
    "one classifier": lambda: hm.tune(Y, S),
    "labels": lambda: hm.tune(YY, 5 * SS, labels=NAMES),
    "labels, data unknown": lambda: pickle.loads(pickle.dumps(hm.tune(YY, SS))),
    "assessment": lambda: hm.assess(YY, SS),
    "diagnosis": lambda: hm.diagnose(YY, SS, labels=NAMES),
    "decision": lambda: hm.decide(SS, average="samples"),
    "region": lambda: hm.decision_region(stats.norm(2), stats.norm(), 0.1),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_results_have_a_small_picture_in_notebooks(kind):
    result = RESULTS[kind]()
    before = dict(mpl.rcParams)
    page = result._repr_html_()
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == []
    alt, content = image_in(page)
    assert alt.endswith(".")
    assert content.startswith(b"\x89PNG")
    assert len(page) < 60_000
    assert "<table>" in page


def test_a_diagnosis_lists_its_findings_in_notebooks():
    d = hm.diagnose(YY, 5 * SS, labels=NAMES)
    head, found, rest = re.fullmatch(
        r"<p>([^<]+)</p><ul>(.*?)</ul><p>([^<]+)</p><table>.*", d._repr_html_(), re.S
    ).groups()
    assert head.startswith("Diagnosis of 4 labels on 300 rows: ")
    items = re.findall(r"<li>([\d,]+) <b>([^<]+)</b>: ([^<]+)</li>", found)
    assert {name: int(count) for count, name, _ in items} == {
        k: v for k, v in d.counts.items() if v
    }
    assert rest == "Scores are not probabilities (0 to 1), so calibration is not judged."


@pytest.mark.parametrize(
    "result",
    [
        lambda: pickle.loads(pickle.dumps(hm.tune(Y, S))),
        lambda: pickle.loads(pickle.dumps(hm.tune(YY, 5 * SS))),
        lambda: hm.decide(S),
        lambda: hm.diagnose(Y, S),
    ],
)
def test_results_without_anything_to_draw_have_no_picture(result):
    assert "<img" not in result()._repr_html_()


def test_without_matplotlib_there_is_no_picture_and_no_error(monkeypatch):
    monkeypatch.setattr(notebook, "find_spec", lambda _: None)
    assert "<img" not in hm.tune(Y, S)._repr_html_()


def test_a_picture_that_fails_does_not_hide_the_result(monkeypatch):
    def fail(_):
        raise OSError("the data are gone")

    monkeypatch.setattr(notebook, "picture_of", fail)
    page = hm.tune(Y, S)._repr_html_()
    assert "<img" not in page
    assert "<table>" in page


def test_a_table_is_not_read_again_for_a_picture():
    import pyarrow as pa

    rows = {"label": ["a", "b"] * 50, "score": np.linspace(-1, 1, 100), "truth": [0, 1, 1, 0] * 25}
    rows["instance"] = np.repeat(range(50), 2)
    t = hm.tune_table(pa.table(rows))
    assert "<img" not in t._repr_html_()
    assert HEALTH.from_thresholds(t).n_rows == t._tuning.load().total
