"""Steps and expectations that the tests of reports in a browser share."""

import numpy as np

READ = """() => Object.fromEntries(
  ["at", "tp", "fp", "fn", "tn", "predicted", "precision", "recall", "score"]
    .map((id) => [id, JSON.parse(document.getElementById(id).dataset.value)]))"""
WALK = f"""(places) => places.map((place) => {{
  const slider = document.getElementById("threshold");
  slider.value = place;
  slider.dispatchEvent(new Event("input"));
  return ({READ})();
}})"""


def places(reader, most):
    """Return some positions of the slider with both ends; the last predicts no rows."""
    last = int(reader.page.locator("#threshold").get_attribute("max"))
    return np.unique(np.linspace(0, last, most).astype(int)).tolist()


def known(value):
    return None if np.isnan(value) else value


def expected(case, threshold, j):
    """Compute a label's numbers at a threshold with halfmax; None predicts no rows."""
    scores = {
        "precision": case.score(threshold, j, "precision"),
        "recall": case.score(threshold, j, "recall"),
        "score": case.score(threshold, j),
    }
    scores = {name: known(value) for name, value in scores.items()}
    return {"at": threshold} | case.counts(threshold, j) | scores


def wait_for_label(reader, name):
    is_open = "name => document.getElementById('which').textContent === name"
    reader.page.wait_for_function(is_open, arg=name)


def open_label(reader, case, j):
    reader.run(f"location.hash = 'label={j}'")
    wait_for_label(reader, case.names[j])


def draw_all(reader):
    """Scroll down to the last chart, so that all are drawn."""
    for chart in reader.page.locator(".chart").all():
        chart.scroll_into_view_if_needed()
        chart.locator("svg.marks").wait_for()
