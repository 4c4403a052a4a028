"""Reports in a real browser: they say what halfmax says, whatever their reader does."""

import csv
import functools
import io
import itertools
from pathlib import Path

import browser as browsers
import numpy as np
import pytest
from browser import reading
from PIL import Image
from report_cases import CASES, HOSTILE, NAMES, hostile
from scipy import sparse

import halfmax as hm
from halfmax.displays.style import CURVES

COUNTS = ["tp", "fp", "fn", "tn", "predicted"]
AVERAGES = ["macro", "micro", "samples"]
QUICK = {"n_resamples": 5}


@pytest.fixture(scope="module")
def browser():
    with browsers.started() as found:
        yield found


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Each case and its report, made when first asked for."""
    folder = tmp_path_factory.mktemp("reports")

    @functools.cache
    def make(name):
        case = CASES[name]()
        path = folder / f"{name}.html"
        return case, case.tuned.report(path, **QUICK, **case.told)

    return make


@pytest.fixture
def read(browser, made):
    """A way to open the report of a case: the case, and who reads it."""

    @functools.wraps(reading)
    def start(name, **settings):
        case, path = made(name)
        return case, reading(browser, path, **settings)

    return start


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
    """Some places of the slider, its ends among them; at the last nobody is predicted."""
    last = int(reader.page.locator("#threshold").get_attribute("max"))
    return np.unique(np.linspace(0, last, most).astype(int)).tolist()


def known(value):
    return None if np.isnan(value) else value


def expected(case, threshold, j):
    """What halfmax says of a label at a threshold; None predicts nobody."""
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


# Of the other cases some open in tests of their own, and some differ in nothing that a page does.
OPENED = (
    *("accuracy", "binary custom", "custom", "extremes", "float32"),
    *("macro", "new data", "sparse samples", "weights"),
)


@pytest.mark.parametrize("name", OPENED)
def test_every_report_opens_in_silence_and_counts_exactly(read, name):
    case, opening = read(name)
    with opening as reader:
        for j in range(0, len(case.names), max(len(case.names) // 3, 1)):
            if len(case.names) > 1:
                open_label(reader, case, j)
            check_slider(reader, case, j)
            if name in ("macro", "weights", "float32"):
                check_buttons(reader, case, j)
        if name in ("weights", "accuracy", "custom", "zero division", "sparse samples"):
            check_one_threshold_for_all(reader, case)


def check_slider(reader, case, j):
    tuned = case.tuned.thresholds[j]
    assert reader.run(READ) == expected(case, None if tuned == np.inf else tuned, j)
    found = reader.run(WALK, places(reader, 15))
    assert found == [expected(case, step["at"], j) for step in found]
    thresholds = [step["at"] for step in found]
    assert thresholds[-1] is None
    assert thresholds[:-1] == sorted(set(thresholds[:-1]))


def check_buttons(reader, case, j):
    """They go to the thresholds of each rule."""
    best = {key: tuned(case, key).thresholds for key in AVERAGES if key != case.tuned.average}
    best |= {"tuned": case.tuned.thresholds, "usual": np.full(len(NAMES), 0.5)}
    for key, thresholds in best.items():
        reader.page.click(f"#rule-buttons [data-key={key}]")
        limit = None if thresholds[j] == np.inf else thresholds[j]
        assert reader.run(READ) == expected(case, limit, j)


def check_one_threshold_for_all(reader, case):
    """It gives every average."""
    reader.page.click("#pool")
    wait_for_label(reader, "All labels, one threshold")
    for average in AVERAGES:
        reader.page.click(f"#rule-buttons [data-key={average}]")
        best = tuned(case, average, per_label=False).threshold
        assert reader.run(READ) == of_all(case, None if best == np.inf else best, average)
        found = reader.run(WALK, places(reader, 9))
        assert found == [of_all(case, step["at"], average) for step in found]
        assert found[-1]["at"] is None
    assert reader.page.get_attribute("#pool", "aria-pressed") == "true"


def tuned(case, average, **options):
    how = {"sample_weight": case.w, "zero_division": case.tuned.zero_division}
    return hm.tune(case.y, case.s, case.metric, average, **how, **options)


def of_all(case, threshold, average):
    scores = {
        "precision": case.score_all(threshold, "micro", "precision"),
        "recall": case.score_all(threshold, "micro", "recall"),
        "score": case.score_all(threshold, average),
    }
    scores = {name: known(value) for name, value in scores.items()}
    return {"at": threshold} | case.counts(threshold) | scores


def test_arrow_keys_move_the_threshold(read):
    case, opening = read("binary")
    with opening as reader:
        last = int(reader.page.get_attribute("#threshold", "max"))
        reader.page.focus("#threshold")
        for key, place in (
            ("Home", 0),
            ("ArrowRight", 1),
            ("ArrowUp", 2),
            ("ArrowLeft", 1),
            ("End", last),
            ("ArrowDown", last - 1),
        ):
            reader.page.keyboard.press(key)
            assert reader.run("Number(document.getElementById('threshold').value)") == place
            assert reader.run(READ) == expected(case, reader.value("at"), 0)
            said = reader.page.get_attribute("#threshold", "aria-valuetext")
            assert said == reader.text("#at")
        assert reader.text("#said")  # for those who listen


def values_of(reader, place):
    return reader.page.locator(place).evaluate_all("all => all.map((one) => one.value)")


def test_a_label_is_found_by_a_part_of_its_name(read):
    case, opening = read("troubled")
    with opening as reader:
        reader.page.fill("#pick", "RM 4")
        options = values_of(reader, "#found-names option")
        assert options == [name for name in case.names if "rm 4" in name]
        reader.page.fill("#pick", "term 47")
        wait_for_label(reader, "term 47")
        assert reader.run(READ) == expected(case, reader.value("at"), 47)
        reader.page.fill("#pick", "no such term")
        assert reader.text("#which") == "term 47"


def test_addresses_and_the_way_back_open_labels(read):
    case, opening = read("troubled")
    with opening as reader:
        reader.open("#label=5")
        assert reader.text("#which") == "term 05"
        reader.page.click("#labels-table tbody tr:nth-child(9) a")
        wait_for_label(reader, "term 08")
        reader.page.click("#pool")
        reader.page.wait_for_function("document.getElementById('which').textContent[0] === 'A'")
        for name in ("term 08", "term 05"):
            reader.page.go_back()
            wait_for_label(reader, name)
            assert reader.run(READ) == expected(case, reader.value("at"), case.names.index(name))
        for nonsense in ("label=60", "label=-1", "label=1.5", "label=length", "label=x", "%", "="):
            reader.open(f"#{nonsense}")
            reader.settle()
            assert reader.text("#which") == "term 05", nonsense


def test_the_way_back_leads_to_the_beginning(read):
    _, opening = read("macro")
    with opening as reader:
        first = reader.text("#which")
        reader.page.click("#pool")
        wait_for_label(reader, "All labels, one threshold")
        reader.page.go_back()
        wait_for_label(reader, first)


def labels_shown(reader):
    """The names in the table of labels, of this page of it."""
    return reader.run(
        "[...document.querySelectorAll('#labels-table tbody a')].map((a) => a.textContent)"
    )


def show_all(reader):
    reader.page.locator("#labels .dt-length select").select_option("100")


def test_labels_can_be_filtered_by_what_is_wrong_with_them(read):
    case, opening = read("troubled")
    found = hm.diagnose(case.y, case.s, labels=case.names, **QUICK)
    wrong = dict(zip(found.labels, found.findings, strict=True))
    with opening as reader:
        show_all(reader)
        choices = values_of(reader, "#finding option")
        assert choices[0] == ""
        assert set(choices[1:]) == {name for names in wrong.values() for name in names}
        assert "flooding" in choices
        for finding in choices[1:]:
            reader.page.select_option("#finding", finding)
            expected = [name for name in case.names if finding in wrong[name]]
            assert labels_shown(reader) == expected
            assert f"({len(expected)})" in reader.text(f"#finding option[value='{finding}']")
        reader.page.select_option("#finding", "")
        assert labels_shown(reader) == case.names


def test_advice_leads_to_the_labels_that_it_is_about(read):
    case, opening = read("troubled")
    with opening as reader:
        link = reader.page.locator(".advice a[href^='#finding']").first
        finding = link.get_attribute("href").partition("=")[2].replace("%20", " ")
        link.click()
        reader.page.wait_for_function(
            "finding => document.getElementById('finding').value === finding", arg=finding
        )
        assert 0 < len(labels_shown(reader)) < len(case.names)


def test_labels_can_be_sorted_searched_and_paged(read):
    case, opening = read("troubled")
    with opening as reader:
        assert labels_shown(reader) == case.names[:25]
        reader.page.locator("#labels .dt-paging button", has_text="3").click()
        assert labels_shown(reader) == case.names[50:]
        search = reader.page.locator("#labels .dt-search input")
        search.fill("term 7")
        assert labels_shown(reader) == [name for name in case.names if "7" in name]
        search.fill("no such term")
        assert labels_shown(reader) == []
        reader.page.click("#labels-table tbody tr")  # where that is said
        search.fill("")
        show_all(reader)
        for title, values in (
            ("threshold", case.tuned.thresholds),
            ("predicted", case.tuned.predicted),
            ("precision", case.tuned.precision),
        ):
            head = reader.page.locator("#labels-table th", has_text=title)
            for way, direction in (("ascending", 1), ("descending", -1)):
                head.click()
                reader.page.locator(f"#labels-table th[aria-sort={way}]", has_text=title).wait_for()
                order = [values[case.names.index(name)] for name in labels_shown(reader)]
                assert order == sorted(values, key=lambda value: direction * value)
        head.locator("[tabindex]").press("Enter")  # the third time: as they came
        reader.page.wait_for_function("!document.querySelector('#labels-table [aria-sort]')")
        assert labels_shown(reader) == case.names


def download(reader):
    with reader.page.expect_download() as coming:
        reader.page.locator("#labels").get_by_role("button", name="Download CSV").click()
    text = Path(coming.value.path()).read_bytes().decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("name", ["troubled", "hostile", "extremes", "many log-odds"])
def test_labels_are_downloaded_in_full_and_harmless(read, name):
    case, opening = read(name)
    with opening as reader:
        rows = download(reader)
    harmless = [f"'{name}" if name[0] in "=+-@" else name for name in case.names]
    assert [row["label"] for row in rows] == harmless
    thresholds = [float(row["threshold"] or np.inf) for row in rows]
    assert thresholds == case.tuned.thresholds.tolist()
    for title, values in (("positives", case.tuned.support), ("predicted", case.tuned.predicted)):
        assert [float(row[title]) for row in rows] == values.tolist()


def test_hostile_names_are_text_wherever_they_stand(read):
    case, opening = read("hostile")
    with opening as reader:
        title = case.told["title"]
        assert reader.page.title() == reader.text("h1") == title
        assert labels_shown(reader) == HOSTILE
        for j, name in enumerate(HOSTILE):
            open_label(reader, case, j)
            assert reader.run(READ) == expected(case, reader.value("at"), j), name
            reader.page.fill("#pick", name)
        reader.page.fill("#pick", "<")
        options = values_of(reader, "#found-names option")
        assert options == [name for name in HOSTILE if "<" in name]
        said = reader.run("document.getElementById('examples').textContent")
        assert all(name in said for name in HOSTILE if name != "-1")
        for part in ("onerror", "alert(1)", "HYPERLINK", "& söhne", "🐈"):
            reader.page.fill("#labels .dt-search input", part)
            found = [name for name in HOSTILE if part.lower() in name.lower()]
            assert labels_shown(reader) == found, part
        assert reader.run("document.querySelectorAll('main img, main script, main b').length") == 0


def point_at(page, mark):
    """Move the mouse over a mark as a hand does, not in one jump from the mark beside it."""
    box = mark.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for step in (2, 1, 0):
        page.mouse.move(x + step, y)


def test_hostile_names_are_text_in_tooltips(read):
    _, opening = read("hostile")
    with opening as reader:
        reader.page.locator("#chart-health").scroll_into_view_if_needed()
        points = reader.page.locator("#chart-health .mark-symbol path")
        points.first.wait_for()
        seen = set()
        for i in range(points.count()):
            point_at(reader.page, points.nth(i))
            tooltip = reader.page.locator("#vg-tooltip-element.visible")
            tooltip.wait_for()
            assert tooltip.locator("img, script, b").count() == 0
            said = tooltip.text_content()
            seen |= {name for name in HOSTILE if name in said}
        assert len(seen) > len(HOSTILE) / 2  # points may hide each other


def test_a_hostile_metric_is_text(browser, tmp_path):
    name = "<img src=x onerror=alert(1)>"
    metric = hm.LinearFractional(name, (1, 0, 0, 0), (1, 1, 1, 0))
    case = hostile()
    path = hm.tune(case.y, case.s, metric).report(tmp_path / "report.html", **QUICK)
    with reading(browser, path) as reader:
        assert reader.run("document.querySelectorAll('img').length") == 0
        assert name in reader.text("#labels-table thead")
        assert reader.text("#score-name") == name


def test_a_point_in_a_picture_opens_its_label(read):
    _, opening = read("macro")
    with opening as reader:
        reader.page.locator("#chart-health").scroll_into_view_if_needed()
        reader.page.locator("#chart-health .mark-symbol path").nth(1).click(force=True)
        reader.page.wait_for_function("location.hash.startsWith('#label=')")
        assert reader.text("#which") == NAMES[int(reader.run("location.hash").partition("=")[2])]


def test_the_decision_has_a_table_of_its_own(read):
    case, opening = read("decision")
    with opening as reader:
        rows = reader.page.locator("#decision-table tbody tr")
        assert rows.count() == len(NAMES)
        shown = rows.nth(0).locator("td").all_text_contents()
        assert shown[0] == NAMES[0]
        assert float(shown[1]) == case.told["decision"].table()["predicted"][0]


CONTRAST = Path(__file__).with_name("contrast.js").read_text("utf-8")


def draw_all(reader):
    """Scroll down to the last picture, so that all are drawn."""
    for chart in reader.page.locator(".chart").all():
        chart.scroll_into_view_if_needed()
        chart.locator("svg.marks").wait_for()


@pytest.mark.parametrize("name", ["decision", "troubled", "log-odds"])
def test_every_text_can_be_read(read, name):
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
    """Change the colours that the reader likes, and wait for the tables to follow."""
    reader.page.emulate_media(color_scheme=scheme)
    is_dark = "(dark) => document.documentElement.classList.contains('dark') === dark"
    reader.page.wait_for_function(is_dark, arg=scheme == "dark")


@pytest.mark.parametrize("name", ["hostile", "decision", "log-odds"])
def test_a_phone_scrolls_in_one_direction_only(read, name):
    _, opening = read(name, viewport={"width": 390, "height": 800})
    with opening as reader:
        draw_all(reader)
        wide = """() => [...document.querySelectorAll("main :not(.scroll *)")]
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
          .map((one) => one.outerHTML.slice(0, 90))"""
        fits = "document.scrollingElement.scrollWidth <= innerWidth"
        assert reader.run(fits), reader.run(wide)


@pytest.mark.parametrize("name", ["decision", "log-odds"])
def test_the_page_is_marked_up_for_those_who_do_not_see_it(read, name):
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
    """How elements begin, but for some of them."""
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
        assert place == "BODY"  # which is left in the end
        for wanted in ("pick", "pool", "rule-buttons", "threshold", "finding", "dt-button"):
            assert wanted in seen, seen
        assert seen.index("pick") < seen.index("threshold") < seen.index("finding")
        assert sum(place.startswith("dt-") for place in seen) >= 6  # search, length, heads, paging


TERMS = 26_853  # of the paper's MEDLINE


def sparse_scores(rows, labels, per_row):
    """Some scores in each row, and which of them are true."""
    rng = np.random.default_rng(0)
    cells = np.unique(rng.integers(0, labels, (rows, per_row)) + labels * np.arange(rows)[:, None])
    chance = rng.random(len(cells)) ** 3
    place = np.divmod(cells, labels)
    scores = sparse.csr_array((chance, place), shape=(rows, labels))
    truth = sparse.csr_array((rng.random(len(cells)) < chance, place), shape=(rows, labels))
    truth.eliminate_zeros()
    return truth, scores


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """What is wrong with very many labels, and their report."""
    data, names = sparse_scores(3000, TERMS, 50), [f"term {j}" for j in range(TERMS)]
    found = hm.diagnose(*data, labels=names, **QUICK)
    path = tmp_path_factory.mktemp("large") / "report.html"
    return found, hm.tune(*data, labels=names).report(path, assessment=False, diagnosis=found)


def test_a_thousand_labels_fit_into_five_megabytes(tmp_path):
    y, s = sparse_scores(800, 1000, 400)
    path = hm.tune(y, s).report(tmp_path / "report.html", **QUICK)
    assert path.stat().st_size < 5e6


def elements(reader):
    return reader.run("document.querySelectorAll('*').length")


def test_very_many_labels_open_and_are_found_with_little_work(browser, large):
    diagnosis, path = large
    assert path.stat().st_size < 25e6
    with reading(browser, path, ready=False) as reader:
        steps = reader.step_counter()
        reader.open()
        assert steps() < 600 * TERMS
        assert elements(reader) < 10_000
        reader.page.fill("#pick", "term 20202")
        wait_for_label(reader, "term 20202")
        took = [steps()]
        reader.page.fill("#labels .dt-search input", "26852")
        took.append(steps())
        assert labels_shown(reader) == ["term 26852"]
        reader.page.fill("#labels .dt-search input", "")
        steps()
        reader.page.select_option("#finding", "unstable threshold")
        took.append(steps())
        pairs = zip(diagnosis.labels, diagnosis.findings, strict=True)
        unstable = {name for name, wrong in pairs if "unstable threshold" in wrong}
        found = [name for name in (f"term {j}" for j in range(TERMS)) if name in unstable]
        assert labels_shown(reader) == found[:25]
        assert max(took) < 200 * TERMS
        assert elements(reader) < 10_000


# The picture of the curves.

CURVES_SHOWN = """() => {
  const all = (place) => [...document.querySelectorAll(`#chart-curve svg ${place}`)];
  const each = (place, name) => all(place).map((one) => one.getAttribute(name));
  const kinds = each(".mark-line path", "aria-label").map((words) => words.split("kind: ")[1]);
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
    """What the picture shows, once its legend calls the score by this name."""
    script = "name => document.querySelector('#chart-curve svg .role-legend-label text')"
    reader.page.wait_for_function(f"{script}?.textContent === name", arg=name)
    return reader.run(CURVES_SHOWN)


def test_colours_keep_their_meaning_and_the_legend_stands_once(read):
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


def test_labels_opened_in_a_hurry_leave_the_picture_of_the_last(read):
    case, opening = read("macro")
    with opening as reader:
        first = reader.run(HEIGHTS)
        open_label(reader, case, 3)
        reader.page.wait_for_function(f"first => {HEIGHTS} !== first", arg=first)
        alone = reader.run(HEIGHTS)
        reader.run(HURRY, ["pooled", "label=1", "pooled", "label=3"])
        reader.page.wait_for_function(f"alone => {HEIGHTS} === alone", arg=alone)
        for _ in range(10):  # for drawings that may still come
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


def test_the_status_line_says_what_is_open(read):
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
        assert np.ptp(values) > 150, name  # words stand out from their ground
    page.close()
