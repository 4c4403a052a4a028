"""How reports look in a real browser: colours, contrast, keyboard, small screens and charts."""

import io
import itertools
from pathlib import Path

import numpy as np
import pytest
from browser import reading
from PIL import Image
from report_cases import QUICK
from report_pages import WALK, draw_all, open_label, wait_for_label

import halfmax as hm
from halfmax.displays.style import CURVES

CONTRAST = Path(__file__).with_name("contrast.js").read_text("utf-8")


@pytest.mark.parametrize("name", ["decision", "troubled", "log-odds", "binary cost", "cost"])
def test_every_text_has_enough_contrast(read, name):
    _, opening = read(name)
    with opening as reader:
        draw_all(reader)
        assert reader.page.locator(".chart svg text").count() > 10
        for scheme in ("light", "dark"):
            see(reader, scheme)
            count, poor = reader.run(CONTRAST)
            assert count > 100
            assert poor == [], scheme


def test_dark_and_light_differ_and_follow_the_reader(read):
    _, opening = read("decision", color_scheme="light")
    places = ["body", "h1", "#pick", "#labels-table td", ".dt-search input", "#chart-curve text"]
    colours = f"""() => {places}.map((place) => {{
      const style = getComputedStyle(document.querySelector(place));
      return [place, style.color, style.backgroundColor, style.fill];
    }})"""
    with opening as reader:
        light = reader.run(colours)
        see(reader, "dark")
        dark = reader.run(colours)
        assert all(before[1:] != after[1:] for before, after in zip(light, dark, strict=True))
        assert light[0][2] != dark[0][2]
        see(reader, "light")
        assert reader.run(colours) == light


def see(reader, scheme):
    """Change the preferred colour scheme, and wait for the tables to follow."""
    reader.page.emulate_media(color_scheme=scheme)
    is_dark = "(dark) => document.documentElement.classList.contains('dark') === dark"
    reader.page.wait_for_function(is_dark, arg=scheme == "dark")


PHONES = ["hostile", "decision", "log-odds", "binary cost", "cost, shared", "weighted"]


@pytest.mark.parametrize("name", PHONES)
def test_a_phone_scrolls_in_one_direction_only(read, name):
    _, opening = read(name, viewport={"width": 390, "height": 800})
    with opening as reader:
        draw_all(reader)
        wide = """() => [...document.querySelectorAll("main :not(.scroll *)")]
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
          .map((one) => one.outerHTML.slice(0, 90))"""
        fits = "document.scrollingElement.scrollWidth <= innerWidth"
        assert reader.run(fits), reader.run(wide)


@pytest.mark.parametrize("name", ["decision", "log-odds", "cost"])
def test_the_page_is_marked_up_for_screen_readers(read, name):
    _, opening = read(name)
    with opening as reader:
        draw_all(reader)
        assert reader.run("document.documentElement.lang") == "en"
        levels = reader.run(
            "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map((h) => Number(h.tagName[1]))"
        )
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
        for nameless in (
            "section:not([aria-labelledby])",
            "th:not([scope])",
            "table:not(:has(caption))",
            ".chart:not([role][aria-label])",
            ".chart[aria-label='']",
        ):
            assert markup(reader, nameless) == [], nameless
        named = (
            "(one) => one.textContent.trim() || one.labels?.length || one.ariaLabel || one.title"
        )
        assert markup(reader, "button, input, select, summary, a, [tabindex='0']", named) == []
        ids = reader.run("[...document.querySelectorAll('[id]')].map((one) => one.id)")
        assert len(ids) == len(set(ids))


def markup(reader, place, but="() => false"):
    """Return the beginnings of elements, except for some of them."""
    begin = f"all => all.filter((one) => !({but})(one)).map((one) => one.outerHTML.slice(0, 90))"
    return reader.page.locator(place).evaluate_all(begin)


FOCUSED = """() => {
  const one = document.activeElement, style = getComputedStyle(one);
  const table = one.closest("[class*=dt-]")?.className.split(" ")[0];
  const visible = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  return [one.id || one.parentElement.id || table || one.tagName, visible, one.outerHTML];
}"""


def test_everything_can_be_reached_and_seen_by_keyboard(read):
    _, opening = read("decision")
    with opening as reader:
        seen = []
        for _ in range(150):
            reader.page.keyboard.press("Tab")
            place, visible, whole = reader.run(FOCUSED)
            if place == "BODY":
                break
            seen.append(place)
            assert visible, whole
        assert place == "BODY"  # the focus leaves the page in the end
        for name in ("pick", "pool", "rule-buttons", "threshold", "finding", "dt-button"):
            assert name in seen, seen
        assert seen.index("pick") < seen.index("threshold") < seen.index("finding")
        assert sum(place.startswith("dt-") for place in seen) >= 6  # search, length, heads, paging


# The chart of the curves.

CURVES_SHOWN = """() => {
  const all = (place) => [...document.querySelectorAll(`#chart-curve svg ${place}`)];
  const each = (place, name) => all(place).map((one) => one.getAttribute(name));
  const kinds = each(".mark-line path", "aria-label").map((text) => text.split("kind: ")[1]);
  const strokes = each(".mark-line path", "stroke");
  return {
    legend: all(".role-legend-label text").map((one) => one.textContent),
    colours: each(".role-legend-symbol path", "stroke"),
    boxes: all(".role-legend-symbol path, .role-legend-label text")
      .map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right])
      .sort((a, b) => a[0] - b[0]),
    lines: Object.fromEntries(kinds.map((kind, i) => [kind, strokes[i]])),
    paths: each(".mark-line path", "d"),
  };
}"""
HEIGHTS = f"""({CURVES_SHOWN})().paths.map((path) => path.replace(/[\\d.]+,/g, "")).join()"""
HURRY = """async (places) => {
  for (const place of places) {
    const followed = new Promise((resolve) => {
      window.addEventListener("hashchange", resolve, { once: true });
    });
    location.hash = place;
    await followed;
  }
}"""


def curves_named(reader, name):
    """Return what the chart shows, once its legend has this name for the score."""
    script = "name => document.querySelector('#chart-curve svg .role-legend-label text')"
    reader.page.wait_for_function(f"{script}?.textContent === name", arg=name)
    return reader.run(CURVES_SHOWN)


def test_colours_keep_their_meaning_and_there_is_one_legend(read):
    case, opening = read("macro")
    colours = {kind: f"var(--{colour})" for kind, (colour, _) in CURVES.items()}
    with opening as reader:
        for place, name in (
            ("", "F1"),
            ("pooled", "macro F1"),
            ("label=2", "F1"),
            ("pooled", "macro F1"),
        ):
            reader.run(f"location.hash = {place!r}")
            shown = curves_named(reader, name)
            assert shown["legend"] == [name, "precision", "recall"]
            assert shown["colours"] == list(colours.values())
            assert shown["lines"] == colours
            ends = list(itertools.pairwise(shown["boxes"]))
            assert len(ends) == 5
            assert all(left[1] <= right[0] for left, right in ends)
        reader.page.click("#rule-buttons [data-key=samples]")
        assert curves_named(reader, "per-instance F1")["lines"] == colours
        open_label(reader, case, 1)
        assert curves_named(reader, "F1")["lines"] == colours


AXES = """() => [...document.querySelectorAll("#chart-curve .role-axis")].map((axis) => ({
  title: axis.querySelector(".role-axis-title text")?.textContent,
  ends: [...axis.querySelectorAll(".role-axis-label text")].map((one) => Number(one.textContent)),
})).filter((axis) => axis.title && axis.title !== "threshold")"""


def test_costs_have_an_axis_of_their_own(read):
    case, opening = read("cost")
    with opening as reader:
        for place, name in (("label=0", "cost"), ("pooled", "mean cost"), ("label=2", "cost")):
            reader.run(f"location.hash = {place!r}")
            shown = curves_named(reader, name)
            assert shown["legend"] == [name, "precision", "recall"]
            assert list(shown["lines"]) == ["score", "precision", "recall"]
            own, ratios = sorted(reader.run(AXES), key=lambda axis: axis["title"])
            assert (own["title"], ratios["title"]) == ("cost", "precision, recall")
            assert (min(ratios["ends"]), max(ratios["ends"])) == (0, 1)
            assert min(own["ends"]) == 0
        highest = max(case.score(step, 2) for step in case.s[:, 2][case.y[:, 2] == 1])
        assert highest <= max(own["ends"]) < 1.5 * highest
        rule = "Calibrated probabilities would have the threshold 0.0909091, fp/(fp + fn)."
        assert rule in reader.text("#marks-said")


def test_every_name_of_a_chart_fits_on_a_phone(read):
    cut = """() => [...document.querySelectorAll(".chart svg.marks text")].filter((one) => {
      const { left, right } = one.getBoundingClientRect();
      return one.textContent && (left < -1 || right > innerWidth + 1);
    }).map((one) => one.textContent)"""
    for name in ("binary cost", "cost, shared", "macro", "mcc"):
        _, opening = read(name, viewport={"width": 390, "height": 800})
        with opening as reader:
            draw_all(reader)
            assert reader.run(cut) == [], name


def test_labels_opened_in_quick_succession_leave_the_chart_of_the_last(read):
    case, opening = read("macro")
    with opening as reader:
        first = reader.run(HEIGHTS)
        open_label(reader, case, 3)
        reader.page.wait_for_function(f"first => {HEIGHTS} !== first", arg=first)
        alone = reader.run(HEIGHTS)
        reader.run(HURRY, ["pooled", "label=1", "pooled", "label=3"])
        reader.page.wait_for_function(f"alone => {HEIGHTS} === alone", arg=alone)
        for _ in range(10):  # for drawings that may still be pending
            reader.settle()
        assert reader.run(HEIGHTS) == alone


def test_curves_are_steps(read):
    _, opening = read("macro")
    with opening as reader:
        for path in curves_named(reader, "F1")["paths"]:
            points = [tuple(map(float, part.split(","))) for part in path[1:].split("L")]
            assert len(points) > 10
            assert all(a[0] == b[0] or a[1] == b[1] for a, b in itertools.pairwise(points))
            assert points[0][0] == points[1][0]  # it is as high as at the upper threshold


@pytest.mark.parametrize(
    ("metric", "legend"),
    [("precision", ["precision", "recall"]), ("recall", ["recall", "precision"])],
)
def test_a_metric_that_is_one_of_the_curves_is_drawn_once(browser, tmp_path, metric, legend):
    y = np.arange(90) % 3 == 0
    tuned = hm.tune(y, np.where(y, 0.2, 0.0) + np.linspace(0, 0.5, 90) % 0.31, metric)
    with reading(browser, tuned.report(tmp_path / "report.html", **QUICK)) as reader:
        assert curves_named(reader, metric)["legend"] == legend


def test_the_status_line_announces_what_is_open(read):
    case, opening = read("macro")

    def said():
        names = ["precision", "recall", "score"]
        score = reader.text("#score-name")
        shown = [f"{score if one == 'score' else one} {reader.text(f'#{one}')}" for one in names]
        return f"{reader.text('#which')}: {', '.join(shown)}"

    with opening as reader:
        assert reader.text("#said") == said()
        reader.page.focus("#threshold")
        reader.page.keyboard.press("Home")
        assert reader.text("#said") == said()
        for j in (2, 4):
            open_label(reader, case, j)
            assert reader.text("#said") == said()
            assert reader.text("#said").startswith(f"{case.names[j]}: ")
        reader.page.click("#rule-buttons [data-key=usual]")
        assert reader.text("#said") == said()
        reader.run(WALK, [3])  # the slider is still being moved
        assert reader.text("#said") == ""
        reader.page.click("#pool")
        wait_for_label(reader, "All labels, one threshold")
        assert reader.text("#said") == said()
        reader.page.locator("#chart-curve svg.marks").click(position={"x": 300, "y": 150})
        assert reader.text("#said") == said()


def test_every_tick_is_a_number_of_its_own(browser, tmp_path):
    rows = np.arange(6000)
    y = np.column_stack([rows % 2 == 0, rows % 60 == 0, rows % 1500 == 0])
    s = np.where(y, 0.3, 0.0) + (rows[:, None] * [0.618, 0.414, 0.732]) % 0.7
    tuned = hm.tune(y, s)
    ticks = """name => [...document.querySelectorAll(`#chart-${name} .role-axis-label text`)]
      .map((one) => one.textContent)"""
    with reading(browser, tuned.report(tmp_path / "report.html", **QUICK)) as reader:
        draw_all(reader)
        assert reader.run(ticks, "honest")[:5] == ["0", "1", "10", "100", "1k"]
        shares = reader.run(ticks, "health")
        assert "0.1%" in shares
        assert set(shares) <= {"0.0001%", "0.001%", "0.01%", "0.1%", "1%", "10%", "100%"}


# Results in notebooks.

THEMES = {
    "no theme known": ("", ""),
    "JupyterLab, light": ("", 'data-jp-theme-light="true"'),
    "JupyterLab, dark": ("", 'data-jp-theme-light="false"'),
    "VS Code, light": ("", 'class="vscode-light"'),
    "VS Code, dark": ("", 'class="vscode-dark"'),
    "VS Code, high contrast": ("", 'class="vscode-high-contrast"'),
    "VS Code, light high contrast": (
        "",
        'class="vscode-high-contrast vscode-high-contrast-light"',
    ),
    "Colab, dark": ('theme="dark"', ""),
    "documentation, dark": ('data-theme="dark"', ""),
}


def test_pictures_in_notebooks_follow_the_theme(browser):
    y = np.arange(60) % 3 == 0
    shown = hm.tune(y, np.where(y, 0.6, 0.4) + np.linspace(-0.3, 0.3, 60))._repr_html_()
    page = browser.new_page()
    for name, (of_html, of_body) in THEMES.items():
        page.set_content(f"<html {of_html}><body {of_body}>{shown}</body></html>")
        content = page.locator("img.halfmax-picture").screenshot()
        values = np.asarray(Image.open(io.BytesIO(content)).convert("L"))
        dark = name.endswith(("dark", "high contrast")) and "light" not in name
        assert (np.median(values) < 60) == dark, name
        assert np.median(values) < 60 or np.median(values) > 240
        assert np.ptp(values) > 150, name  # text stands out from the background
    page.close()
