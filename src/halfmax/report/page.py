"""The page: what was found, filled into one HTML file that needs nothing else."""

from base64 import b64encode
from collections import Counter
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any

import numpy as np

from halfmax.honesty.diagnosis import FINDINGS
from halfmax.metrics.words import metric_name
from halfmax.report import sentences
from halfmax.report.charts import charts_of
from halfmax.report.content import Content
from halfmax.report.numbers import MOST_ROWS, as_html_json, numbers_of
from halfmax.report.pages import fill_template

NEEDED = ("altair", "vl_convert", "itables", "jinja2")

_MOST_POINTS = 2000  # of a picture; more would only hide each other and slow the page down
_NAMES_SHOWN = 10
_PICTURES = {
    "health": (
        "Predicted as often as it occurs?",
        "Each point is a label. Above the dashed line it floods: it is predicted for more than "
        "5 % of rows and more than 10 times its base rate (triangles). Labels without positives, "
        "or that nobody is predicted for, have no place here.",
    ),
    "half-max": (
        "Are the scores calibrated?",
        "For calibrated probabilities the best threshold is half the best F1 (other metrics have "
        "rules of their own), so points would lie on the dashed line.",
    ),
    "honest": (
        "How much of each score will stay?",
        "Each line falls from a label's score here to what is expected on new data; labels with "
        "few positives fall deepest.",
    ),
}


def page_of(content: Content, title: str) -> str:
    """The whole file."""
    from markupsafe import Markup

    numbers, shown = numbers_of(content), _points_shown(content)
    numbers["shown"] = shown
    charts = charts_of(content)
    said = _said(content, title, charts, shown)
    return fill_template(
        "halfmax.report",
        "report.html",
        **said,
        style=Markup(_read("report.css")),
        table_style=Markup(_of_itables("dt_bundle.css")),
        numbers=Markup(as_html_json(numbers)),
        charts=Markup(as_html_json(charts)),
        vega=Markup(_vega()),
        script=Markup(_read("report.js").replace("DATATABLES", _data_tables(), 1)),
    )


def _said(
    content: Content, title: str, charts: dict[str, Any], shown: list[int] | None
) -> dict[str, Any]:
    """All words and numbers outside of scripts."""
    subject, counts = content.subject, Counter(chain.from_iterable(content.findings))
    pictures = [(key, *text) for key, text in _PICTURES.items() if key in charts]
    return {
        "title": title,
        "headline": sentences.headline(content),
        "metric": metric_name(subject.thresholds.metric),
        "binary": subject.data.is_binary,
        "tuned_here": subject.tuned_here,
        "names": content.names,
        "score": content.score,
        "assessment": content.assessment,
        "why_not_assessed": sentences.why_not_assessed(content),
        "usual_cut": float(content.usual.choice.thresholds[0]),
        "usual_score": content.usual.scores[subject.thresholds.average],
        "difference": sentences.difference(content),
        "facts": sentences.facts(content),
        "advice": sentences.advice(content),
        "nothing_found": sentences.nothing_found(content),
        "rules": content.rules,
        "examples": _examples(content),
        "finding_counts": [(name, counts[name]) for name in FINDINGS if counts[name]],
        "pictures": pictures,
        "sampled": _sampled(content, shown),
        "assessed_in_words": sentences.assessed(content),
        "decision": _decision(content),
        "sections": _sections(content, bool(pictures)),
        "finding_note": sentences.findings_of(content),
    }


def _sections(content: Content, drawn: bool) -> list[tuple[str, str]]:
    found = [("summary", "Summary"), ("explorer", "Explorer")]
    if not content.subject.data.is_binary:
        found.append(("labels", "Labels"))
    if drawn:
        found.append(("health", "Health"))
    if content.assessment is not None:
        found.append(("new-data", "New data"))
    if content.subject.request.decision is not None:
        found.append(("decision", "Decision"))
    return found


def _points_shown(content: Content) -> list[int] | None:
    """Places of the labels in pictures of very many: those that flood first, then evenly."""
    size = len(content.names)
    if size <= _MOST_POINTS:
        return None
    floods = [j for j, names in enumerate(content.findings) if "flooding" in names]
    worst = sorted(floods, key=lambda j: -content.tuned.choice.counts.predicted[j])[
        : _MOST_POINTS // 2
    ]
    rest = np.setdiff1d(np.arange(size), worst)
    even = rest[np.linspace(0, len(rest) - 1, _MOST_POINTS - len(worst)).astype(np.int64)]
    return sorted({*worst, *even.tolist()})


def _sampled(content: Content, shown: list[int] | None) -> str:
    if shown is None:
        return ""
    return (
        f"The pictures show {len(shown):,} of {len(content.names):,} labels: those that flood "
        f"most, and an even choice of the others. The table has them all."
    )


def _examples(content: Content) -> list[dict[str, Any]]:
    return [
        {
            "row": example.row,
            "cells": [
                _cell(content, example.truth, example.truth),
                *(_cell(content, places, example.truth) for places in example.predicted.values()),
            ],
        }
        for example in content.examples
    ]


def _cell(content: Content, places: list[int], truth: list[int]) -> dict[str, Any]:
    """The first names, those that are true before the others."""
    true = set(truth)
    ordered = sorted(places, key=lambda j: j not in true)
    names = [(content.names[j], j in true) for j in ordered[:_NAMES_SHOWN]]
    return {"names": names, "more": len(places) - len(names)}


def _decision(content: Content) -> dict[str, Any] | None:
    decision = content.subject.request.decision
    if decision is None:
        return None
    size = len(decision.thresholds)
    shown = min(size, MOST_ROWS)
    return {"summary": decision._summary(), "size": size, "shown": shown, "cut": shown < size}


def _read(name: str) -> str:
    return files("halfmax.report").joinpath("templates", name).read_text("utf-8")


def _of_itables(name: str) -> str:
    return files("itables").joinpath("html", name).read_text("utf-8")


def _data_tables() -> str:
    """The module of tables as an address that holds all of it."""
    return f"data:text/javascript;base64,{b64encode(_of_itables('dt_bundle.js').encode()).decode()}"


@cache
def _vega() -> str:
    """What draws, which takes a second or two to bundle."""
    import vl_convert

    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub wants a snippet
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
