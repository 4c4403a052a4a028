"""Fill the content of a report into one HTML page that needs no other file."""

from base64 import b64encode
from collections import Counter
from importlib.resources import files
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from halfmax._core.extras import require_installed
from halfmax.honesty.diagnosis import FINDINGS
from halfmax.metrics.words import name_of_rule
from halfmax.report import sentences
from halfmax.report.charts import charts_of
from halfmax.report.content import Content
from halfmax.report.numbers import MOST_ROWS, as_html_json, numbers_of
from halfmax.report.templating import fill_template
from halfmax.report.vega import require_vega, vega

NEEDED = ("itables", "jinja2")

_MOST_POINTS = 2000  # in a chart; more would hide each other and slow down the page
_NAMES_SHOWN = 10
_HEALTH = (
    "Is each label predicted as often as it occurs?",
    "Each point is a label. Labels above the dashed line flood: they are predicted for more "
    "than 5 % of rows and more than 10 times their base rate (triangles). Labels without "
    "positives or without predictions are not shown.",
)
_HONEST = (
    "How much of each score will remain on new data?",
    "Each line goes from a label's score here down to the score expected on new data; labels "
    "with few positives lose most.",
)
_HONEST_COSTS = (
    "How much more will each label cost on new data?",
    "Each line goes from a label's cost here up to the cost expected on new data.",
)


def check_installed() -> None:
    """Raise an error that says what to install, if pages need something that is missing."""
    require_installed(*NEEDED)
    require_vega()


def page_of(content: Content, title: str) -> str:
    """Return the whole page."""
    from markupsafe import Markup

    numbers, shown = numbers_of(content), _points_shown(content)
    numbers["shown"] = shown
    charts = charts_of(content)
    texts = _texts(content, title, charts, shown)
    return fill_template(
        "halfmax.report",
        "report.html",
        **texts,
        style=Markup(_read("report.css")),
        table_style=Markup(_of_itables("dt_bundle.css")),
        numbers=Markup(as_html_json(numbers)),
        charts=Markup(as_html_json(charts)),
        vega=Markup(vega()),
        script=Markup(_read("report.js").replace("DATATABLES", _data_tables(), 1)),
    )


def _texts(
    content: Content, title: str, charts: dict[str, Any], shown: list[int] | None
) -> dict[str, Any]:
    """Return all texts and numbers outside the scripts."""
    subject, counts = content.subject, Counter(chain.from_iterable(content.findings))
    pictures = [(key, *text) for key, text in _chart_texts(content).items() if key in charts]
    return {
        "title": title,
        "words": content.words,
        "positive_class": content.positive_class,
        "binary": subject.data.is_binary,
        "tuned_here": subject.tuned_here,
        "tuned_elsewhere": not (subject.tuned_here or subject.thresholds._unknown.all()),
        "names": content.names,
        "score": content.score,
        "assessment": content.assessment,
        "why_not_assessed": sentences.why_not_assessed(content),
        "cuts": _cuts(content),
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


def _chart_texts(content: Content) -> dict[str, tuple[str, str]]:
    """Return the heading and the text of each chart of all labels."""
    rule = name_of_rule(content.words.metric)
    where = "at the same height as" if content.words.is_cost else "on"
    calibrated = (
        f"For calibrated probabilities the best threshold is {_rule_in_words(rule)}, so points "
        f"would lie {where} the dashed line."
    )
    return {
        "health": _HEALTH,
        "half-max": ("Are the scores calibrated?", calibrated),
        "honest": _HONEST_COSTS if content.words.is_cost else _HONEST,
    }


def _rule_in_words(rule: str) -> str:
    if rule == "F*/2":
        return "half the best F1"
    return "known from theory" if rule == "plug-in threshold" else rule


def _cuts(content: Content) -> list[tuple[str, float, str]]:
    """Return the cuts that are known without tuning, their scores, and where they come from."""
    cuts = [(content.usual, "")]
    if content.plug_in is not None:
        rule = name_of_rule(content.words.metric)
        cuts.append((content.plug_in, f"{rule}, if scores are calibrated"))
    return [
        (f"{rule.choice.thresholds[0]:.4g}", rule.scores[content.words.average], why)
        for rule, why in cuts
    ]


def _sections(content: Content, drawn: bool) -> list[tuple[str, str]]:
    """Return the ids and names of the sections of the page."""
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
    """Return the labels to show in charts of very many: those that flood, then an even choice."""
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
        f"The charts show {len(shown):,} of {len(content.names):,} labels: those that flood most, "
        f"and an even selection of the others. The table lists all labels."
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
    """Return the first names, true labels before the others."""
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
    """Return a file of itables, which is not imported: it would import pandas and polars."""
    found = find_spec("itables")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).with_name("html").joinpath(name).read_text("utf-8")


def _data_tables() -> str:
    """Return the DataTables module as a data URL."""
    return f"data:text/javascript;base64,{b64encode(_of_itables('dt_bundle.js').encode()).decode()}"
