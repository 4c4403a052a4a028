"""Reports in a real browser: they show what halfmax computes, whatever their reader does."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from browser import reading
from report_cases import GAINS, HOSTILE, NAMES, QUICK, ROWS, hostile, many
from report_pages import READ, WALK, expected, known, open_label, places, wait_for_label
from scipy import sparse

import halfmax as hm

# Some other cases have their own tests, and some do not differ in what the page does.
OPENED = (
    *("accuracy", "binary custom", "custom", "extremes", "float32"),
    *("macro", "new data", "sparse samples", "weights"),
    *("balanced accuracy, weights", "kappa, micro", "mcc, extremes", "youden, sparse"),
    *("binary cost", "cost", "cost, shared", "gains, weights"),
    *("weighted", "weighted cost", "weighted, shared"),
    *("dictionary, cost", "restricted", "not monotone"),
)
BUTTONS = ("macro", "weights", "float32", "cost", "dictionary, cost", "weighted", "mcc, extremes")
POOLED = (
    *("weights", "accuracy", "custom", "sparse samples"),
    *("balanced accuracy, weights", "kappa, micro", "mcc, extremes", "youden, sparse"),
    *("cost", "cost, shared", "gains, weights"),
    *("weighted", "weighted cost", "weighted, shared"),
)


@pytest.mark.parametrize("name", OPENED)
def test_every_report_opens_without_errors_and_counts_exactly(read, name):
    case, opening = read(name)
    with opening as reader:
        for j in range(0, len(case.names), max(len(case.names) // 3, 1)):
            if len(case.names) > 1:
                open_label(reader, case, j)
            check_slider(reader, case, j)
            if name in BUTTONS:
                check_buttons(reader, case, j)
        if name in POOLED:
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
    """The buttons go to the thresholds of each rule."""
    rules = {"tuned": case.tuned.thresholds, "usual": np.full(len(NAMES), 0.5)}
    if case.is_cost:  # the only other rule: fp / (fp + fn)
        rules["plug-in"] = np.full(len(NAMES), 1 / 11)
    else:
        same = {"weighted", "macro" if case.tuned.average == "weighted" else case.tuned.average}
        others = [average for average in case.averages if average not in same]
        rules |= {average: thresholds_for(case, average) for average in others}
    keys = reader.page.locator("#rule-buttons button").evaluate_all(
        "all => all.map((one) => one.dataset.key)"
    )
    assert set(keys) == {key for key, thresholds in rules.items() if thresholds is not None}
    for key in keys:
        thresholds = rules[key]
        reader.page.click(f"#rule-buttons [data-key={key}]")
        limit = None if thresholds[j] == np.inf else thresholds[j]
        assert reader.run(READ) == expected(case, limit, j)


def check_one_threshold_for_all(reader, case):
    """The page shows every average of one threshold for all labels."""
    reader.page.click("#pool")
    wait_for_label(reader, "All labels, one threshold")
    for average in case.averages:
        reader.page.click(f"#rule-buttons [data-key={average}]")
        best = tuned(case, average, per_label=False).threshold
        assert reader.run(READ) == of_all(case, None if best == np.inf else best, average)
        found = reader.run(WALK, places(reader, 9))
        assert found == [of_all(case, step["at"], average) for step in found]
        assert found[-1]["at"] is None
    assert reader.page.get_attribute("#pool", "aria-pressed") == "true"


def thresholds_for(case, average):
    """The best thresholds of each label, or None if no search finds them."""
    try:
        return tuned(case, average).thresholds
    except ValueError:
        return None


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


def test_sums_of_weights_that_round_leave_no_dust(browser, tmp_path):
    """Counts that differ by rounding errors alone are equal, and 0/0 is 0/0, as in Python."""
    case = many(sample_weight=np.random.default_rng(0).random(ROWS), metric=GAINS)
    path = case.tuned.report(tmp_path / "report.html", **QUICK)
    with reading(browser, path) as reader:
        dust = 0
        for j in range(len(NAMES)):
            open_label(reader, case, j)
            steps = reader.run(WALK, places(reader, 40))
            for step in steps:
                exact = expected(case, step.pop("at"), j)
                exact.pop("at")
                assert step == pytest.approx(exact, rel=1e-9, abs=0.0)
            whole = case.w[case.column(j)[0] == 1].sum()
            dust += sum(0 < abs(whole - step["tp"]) < 1e-9 for step in steps)
        assert dust > 0  # otherwise this shows nothing


def test_the_rule_of_costs_is_marked_once(read):
    _, opening = read("cost")
    with opening as reader:
        for place in ("", "#pooled"):
            reader.open(place)
            names = reader.page.locator(
                "#chart-curve .role-mark.mark-text text"
            ).all_text_contents()
            assert names.count("fp/(fp + fn) for all") == 1
            assert "fp/(fp + fn)" not in names


def test_large_costs_are_written_as_in_the_summary(read):
    case, opening = read("cost, shared")
    with opening as reader:
        reader.page.click("#pool")
        wait_for_label(reader, "All labels, one threshold")
        cost = f"{-case.tuned.score:,.1f}"
        assert "," in f"{case.score_all(0.5, 'macro'):,.1f}"
        assert reader.text("#score") == reader.text("#score-here") == cost
        assert reader.text("#score-name") == "mean cost"
        reader.page.click("#rule-buttons [data-key=usual]")
        assert reader.text("#score") == f"{case.score_all(0.5, 'macro'):,.1f}"
        cells = reader.page.locator("#rule-table tr", has_text="0.5 for all").locator("td")
        assert cells.last.text_content() == reader.text("#score")


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
        assert reader.text("#said")  # for screen readers


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


def test_addresses_and_the_back_button_open_labels(read):
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


def test_the_back_button_leads_to_the_beginning(read):
    _, opening = read("macro")
    with opening as reader:
        first = reader.text("#which")
        reader.page.click("#pool")
        wait_for_label(reader, "All labels, one threshold")
        reader.page.go_back()
        wait_for_label(reader, first)


def labels_shown(reader):
    """Return the names on the current page of the table of labels."""
    return reader.run(
        "[...document.querySelectorAll('#labels-table tbody a')].map((a) => a.textContent)"
    )


def show_all(reader):
    reader.page.locator("#labels .dt-length select").select_option("100")


def test_labels_can_be_filtered_by_finding(read):
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
        reader.page.click("#labels-table tbody tr")  # the message that nothing was found
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
        head.locator("[tabindex]").press("Enter")  # the third time: the original order
        reader.page.wait_for_function("!document.querySelector('#labels-table [aria-sort]')")
        assert labels_shown(reader) == case.names


def download(reader):
    with reader.page.expect_download() as coming:
        reader.page.locator("#labels").get_by_role("button", name="Download CSV").click()
    text = Path(coming.value.path()).read_bytes().decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("name", ["troubled", "hostile", "extremes", "many log-odds"])
def test_labels_are_downloaded_completely_and_formulas_are_escaped(read, name):
    case, opening = read(name)
    with opening as reader:
        rows = download(reader)
    harmless = [f"'{name}" if name[0] in "=+-@" else name for name in case.names]
    assert [row["label"] for row in rows] == harmless
    thresholds = [float(row["threshold"] or np.inf) for row in rows]
    assert thresholds == case.tuned.thresholds.tolist()
    for title, values in (("positives", case.tuned.support), ("predicted", case.tuned.predicted)):
        assert [float(row[title]) for row in rows] == values.tolist()


def test_hostile_names_are_text_everywhere(read):
    case, opening = read("hostile")
    with opening as reader:
        title = case.options["title"]
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
    """Move the mouse over a mark in small steps, not in one jump from another mark."""
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


def test_a_point_in_a_chart_opens_its_label(read):
    _, opening = read("macro")
    with opening as reader:
        reader.page.locator("#chart-health").scroll_into_view_if_needed()
        reader.page.locator("#chart-health .mark-symbol path").nth(1).click(force=True)
        # The address changes first; the page follows it when it hears of the change.
        reader.page.wait_for_function(
            "names => document.querySelector('#which').textContent.trim()"
            " === names[location.hash.split('#label=')[1]]",
            arg=list(NAMES),
        )
        assert reader.text("#which") == NAMES[int(reader.run("location.hash").partition("=")[2])]


def test_the_decision_has_its_own_table(read):
    case, opening = read("decision")
    with opening as reader:
        rows = reader.page.locator("#decision-table tbody tr")
        assert rows.count() == len(NAMES)
        shown = rows.nth(0).locator("td").all_text_contents()
        assert shown[0] == NAMES[0]
        assert float(shown[1]) == case.options["decision"].table()["predicted"][0]


TERMS = 26_853  # of the paper's MEDLINE


def sparse_scores(rows, labels, per_row):
    """Return a truth and scores with a few scores in each row."""
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
    """The diagnosis of very many labels, and their report."""
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
