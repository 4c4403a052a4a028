"""Reports about thresholds that were set by hand."""

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import halfmax as hm

NAMES = ["cats", "dogs", "emus"]
RNG = np.random.default_rng(0)
YY = RNG.random((200, 3)) < [0.1, 0.3, 0.5]
SS = 1 / (1 + np.exp(-RNG.normal(size=YY.shape) - 1.5 * YY))


def tuned(**options):
    return hm.tune(YY, SS, **({"labels": NAMES} | options))


def test_a_report_about_numbers_of_ones_own_shows_what_they_reach(tmp_path):
    t = hm.Thresholds.from_dict(dict.fromkeys(NAMES, 0.5))
    page = t.report(tmp_path / "page.html", YY, SS, n_resamples=20).read_text("utf-8")
    reached = hm.score(YY, t.predict(SS))
    assert f"on which macro F1 is {reached:.4f}" in page
    assert "It is not known which rows the thresholds were tuned on" in page
    assert "unknown rows" in page
    assert "rows not used for tuning" not in page


def test_a_report_about_a_label_takes_one_or_two_dimensions(tmp_path):
    t = hm.Thresholds.from_dict({"cats": 0.5})
    for y, s in ((YY[:, 0], SS[:, 0]), (YY[:, :1], SS[:, :1])):
        page = t.report(tmp_path / "page.html", y, s, diagnosis=False, n_resamples=20)
        assert f"F1 is {hm.score(y, t.predict(s)):.4f} (95 %" in page.read_text("utf-8")


def test_a_report_about_changed_thresholds_does_not_assess_the_tuning(tmp_path):
    t = tuned(guard="auto").replace({"cats": 0.5})
    page = t.report(tmp_path / "page.html", n_resamples=20).read_text("utf-8")
    assert "some of these thresholds were set by hand" in page
    assert f'data-value="{t.score}"' in page


def test_a_changed_table_is_read_again_for_a_report_and_a_picture(tmp_path, close_figures):  # noqa: ARG001
    columns = {"label": np.tile(NAMES, len(YY)), "score": SS.ravel(), "truth": YY.ravel()}
    columns["instance"] = np.repeat(np.arange(len(YY)), 3)
    parquet.write_table(pa.table(columns), tmp_path / "scores.parquet")
    found = hm.tune_table(tmp_path / "scores.parquet").replace({"cats": 0.5})
    drawn = found.plot(label="cats", n_resamples=0)
    assert drawn.threshold == 0.5
    page = found.report(tmp_path / "page.html", n_resamples=20).read_text("utf-8")
    assert "some of these thresholds were set by hand" in page


def test_a_report_knows_the_positive_class_of_its_thresholds(tmp_path):
    names = np.where(YY[:, 2], "yes", "no")
    t = hm.tune(names, SS[:, 2], pos_label="yes")
    t.save(tmp_path / "t.json")
    loaded = hm.Thresholds.load(tmp_path / "t.json")
    for one in (t, loaded):
        page = one.report(tmp_path / "page.html", names, SS[:, 2], n_resamples=20)
        assert f"{t.score:.4f}" in page.read_text("utf-8")
