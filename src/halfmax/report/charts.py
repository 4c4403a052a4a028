"""The interactive charts of the report as Vega-Lite, in the colours of the page."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from halfmax.displays.style import CURVES
from halfmax.metrics.flooding import FLOOD_SHARE, FLOOD_TIMES
from halfmax.metrics.words import name_of_rule
from halfmax.report.content import Content
from halfmax.report.score_words import ScoreWords

Spec = dict[str, Any]  # a part of a chart, as Vega-Lite writes it in JSON

SCORE_NAME = "scoreName"  # the name of the score that the page shows
INK, GREY, LINE = "var(--ink)", "var(--quiet)", "var(--line)"
BLUE, ORANGE, BAND = "var(--blue)", "var(--orange)", "var(--band)"
_BINS = 40

_TEXT = {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12}
_LINES = {"gridColor": LINE, "domainColor": GREY, "tickColor": GREY}
_LOOK: Spec = {
    "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
    "width": "container",
    "background": "transparent",
    "config": {
        "font": "system-ui, sans-serif",
        "view": {"stroke": None},
        "axis": _TEXT | _LINES | {"titleFontWeight": "normal"},
        "legend": _TEXT | {"symbolStrokeWidth": 2},
        "text": {"fontSize": 12},
    },
}


def charts_of(content: Content) -> dict[str, Spec]:
    """Return the charts by the id of their element on the page."""
    whole, words = _whole(content), content.words
    charts = {
        "curve": curve(whole, "linear", words),
        "curve-log": curve(whole, "log", words),
    }
    if len(content.names) > 1:
        choice = content.tuned.choice
        if ((choice.counts.predicted > 0) & (choice.counts.positives > 0)).any():
            charts["health"] = health(content)
        if np.isfinite(content.half_max).any():
            charts["half-max"] = half_max(content)
        if content.assessment is not None and content.subject.tuned_here:
            charts["honest"] = honest(whole, words)
    if content.assessment is not None and np.isfinite(content.assessment.resampled_scores).any():
        charts["resampled"] = resampled(content)
    return charts


def curve(whole: Spec, scale: Literal["linear", "log"], words: ScoreWords) -> Spec:
    """Return score, precision and recall against the threshold; the page fills in the numbers.

    Costs have an axis of their own, because they are of any size.
    """
    x = _number("threshold", title="threshold", scale={"type": scale, "nice": False})
    seen = _number("seen", scale=None, legend=None)
    if words.is_cost:
        score = _number("value", title=words.name, scale={"zero": True})
        axis = {"orient": "right", "grid": False}
        ratio = _number("value", title="precision, recall", scale={"domain": [0, 1]}, axis=axis)
        curves = [_curves(x, score, words, "score"), _curves(x, ratio, words, "ratio")]
        apart = {"resolve": {"scale": {"y": "independent"}}}
    else:
        curves = _curves(x, _number("value", title=None, scale=whole), words)["layer"]
        apart = {}
    chart = _layers(
        320,
        _layer("band", _mark("rect", color=BAND), x=x, x2={"field": "high"}),
        _layer("marks", _mark("rule", strokeDash=[3, 3], color=INK), x=x),
        *curves,
        _layer("now", _mark("rule", color=INK, strokeWidth=3), x=x, opacity=seen),
        _names(x),
    )
    return chart | apart | {"params": [{"name": SCORE_NAME, "value": words.name}]}


def _curves(x: Spec, y: Spec, words: ScoreWords, only: str | None = None) -> Spec:
    """Return the curves and the points on them; of one kind, or all."""
    colour, dash = _kinds(words.name)
    shown = [
        _words("what", title="what"),
        _number("value", format=".4f" if only == "ratio" else _format(words)),
        _number("threshold", format=".6g"),
    ]
    # Between two thresholds the same positives are predicted as at the upper one.
    line = _mark("line", strokeWidth=2, interpolate="step-before")
    dot = _mark("point", size=16, filled=True, opacity=1)
    layers = [
        _layer("curve", line, x=x, y=y, color=colour, strokeDash=dash),
        _layer("dots", dot, x=x, y=y, color=colour, tooltip=shown),
    ]
    kept = {"score": "datum.kind == 'score'", "ratio": "datum.kind != 'score'"}
    if only is not None:
        layers = [layer | {"transform": [{"filter": kept[only]}]} for layer in layers]
    return {"layer": layers}


def _format(words: ScoreWords) -> str:
    """Return the format of scores in tooltips."""
    return f",.{words.decimals}f"


def kinds_of_curves(metric: str) -> list[str]:
    """Return which curves to draw; precision or recall is drawn once if it is the metric."""
    return [kind for kind in CURVES if kind == "score" or kind != metric]


def _kinds(metric: str) -> tuple[Spec, Spec]:
    """Return colours and dashes of curves, with one legend that shows the current score's name.

    Both scales list their curves, so that colours keep their meaning when the data change, and so
    that Vega-Lite merges the two legends.
    """
    kinds = kinds_of_curves(metric)
    colours = [f"var(--{CURVES[kind][0]})" for kind in kinds]
    dashes = [list(CURVES[kind][1]) or [1, 0] for kind in kinds]
    legend = _legend(labelExpr=f"datum.label == 'score' ? {SCORE_NAME} : datum.label")
    colour, dash = (
        _words("kind", title=None, scale={"domain": kinds, "range": shades}, legend=legend)
        for shades in (colours, dashes)
    )
    return colour, dash


def _whole(content: Content) -> Spec:
    """Return a scale from 0 to 1, or an open one if the scores exceed that range."""
    return {"domain": [0, 1]} if content.is_bounded else {}


def _names(x: Spec) -> Spec:
    """Return the names of marks, beside their lines and towards the middle."""
    side, away = {"expr": "datum.side"}, {"expr": "datum.side == 'left' ? 4 : -4"}
    place = _number("place", scale=None)
    mark = _mark("text", align=side, dx=away, color=INK)
    return _layer("marks", mark, x=x, y=place, text=_words("name"))


def health(content: Content) -> Spec:
    """Return the share of rows predicted for each label, against the share that has it."""
    powers = [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1]
    axis = {"labelExpr": "format(datum.value, '~p')", "values": powers}
    scale = {"type": "log", "domainMax": 1}
    x = _number("base_rate", title="share of rows with the label", scale=scale, axis=axis)
    y = _number("share", title="share of rows predicted", scale=scale, axis=axis)
    corner = FLOOD_SHARE / FLOOD_TIMES
    rarest = 1.0 / max(float(content.tuned.choice.counts.total.max()), 1.0)
    edge = [
        {"base_rate": min(rarest, corner / 2), "share": FLOOD_SHARE},
        {"base_rate": corner, "share": FLOOD_SHARE},
        {"base_rate": 1 / FLOOD_TIMES, "share": 1},
    ]
    line = _layer(edge, _mark("line", strokeDash=[5, 3], color=ORANGE, clip=True), x=x, y=y)
    return _layers(340, line, _points(x, y, content.words))


def half_max(content: Content) -> Spec:
    """Return the chosen thresholds, against those of calibrated probabilities.

    Costs give all labels the same one, which is a level line over the labels' positives.
    """
    words, known = content.words, content.half_max[np.isfinite(content.half_max)]
    dashed = {"strokeDash": [5, 3], "color": GREY}
    y = _number("threshold", title="chosen threshold")
    if words.is_cost:
        level = _layer([{"threshold": float(known[0])}], _mark("rule", **dashed), y=y)
        return _layers(340, level, _points(_positives(), y, words))
    title = f"{name_of_rule(words.metric)}: the threshold if calibrated"
    x = _number("half_max", title=title)
    end = 0.5 if known.max() <= 0.5 else 1.0
    ends = [{"half_max": both, "threshold": both} for both in (0, end)]
    line = _layer(ends, _mark("line", **dashed), x=x, y=_number("threshold"))
    return _layers(340, line, _points(x, y, words))


def honest(whole: Spec, words: ScoreWords) -> Spec:
    """Return the score of each label here, and the score to expect on new data."""
    x, title = _positives(), "score here, down to the expected score"
    if words.is_cost:
        title = "cost here, up to the expected cost"
    y = _number("score", title=title, scale=whole)
    mark = _mark("rule", opacity=0.35, color=GREY)
    bars = _layer("labels", mark, x=x, y=y, y2={"field": "expected"})
    return _layers(340, bars, _points(x, y, words))


def _positives() -> Spec:
    """Return an axis of the positives of labels."""
    powers = [0, *(10**power for power in range(10))]
    # Each tick is formatted by itself: a format of the axis would use thousands for all ticks.
    axis = {"values": powers, "labelExpr": "format(datum.value, '~s')"}
    return _number("support", title="positives", scale={"type": "symlog"}, axis=axis)


def _points(x: Spec, y: Spec, words: ScoreWords) -> Spec:
    """Return one point for each label; flooding labels are orange triangles."""
    name = "cost" if words.is_cost else "score"
    shown = [
        _words("name", title="label"),
        _number("support", title="positives", format=","),
        _number("predicted", title="predicted", format=","),
        _number("threshold", format=".4g"),
        _number("score", title=name, format=_format(words)),
        _number("expected", title="expected on new data", format=_format(words)),
        _words("findings"),
    ]
    return _layer(
        "labels",
        _mark("point", size=45, cursor="pointer"),
        x=x,
        y=y,
        color=_if_flooding(ORANGE, BLUE),
        shape=_if_flooding("triangle-up", "circle"),
        tooltip=shown,
    )


def _if_flooding(value: str, otherwise: str) -> Spec:
    return {"condition": {"test": "datum.flooding", "value": value}, "value": otherwise}


def resampled(content: Content) -> Spec:
    """Return a histogram of the scores to expect on new data."""
    assert content.assessment is not None
    words = content.words
    draws = words.value(content.assessment.resampled_scores)
    lines = {"expected on new data": words.value(content.assessment.expected_score)}
    if content.subject.tuned_here:
        lines["on the data tuned on"] = words.value(content.score)
    known = {name: value for name, value in lines.items() if np.isfinite(value)}
    rules = [{"low": value, "name": name} for name, value in known.items()]
    x = _number("low", title="cost" if words.is_cost else "score", scale={"zero": False})
    share = _number("share", title="share of resamples")
    bar = _mark("rect", color=BLUE, opacity=0.6)
    colour, dash = (
        _words("name", title=None, scale={"range": shades}, sort=None, legend=_legend(columns=1))
        for shades in ([INK, ORANGE], [[1, 0], [6, 3]])
    )
    return _layers(
        240,
        _layer(_bars(draws), bar, x=x, x2={"field": "high"}, y=share, y2={"datum": 0}),
        _layer(rules, _mark("rule", strokeWidth=2.5), x=x, color=colour, strokeDash=dash),
    )


def _bars(draws: Any) -> list[Spec]:
    """Return the bars of a histogram of the finite numbers."""
    known = draws[np.isfinite(draws)]
    counts, edges = np.histogram(known, _BINS)
    return [
        {"low": float(low), "high": float(high), "share": float(count / max(len(known), 1))}
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]


def _number(field: str, **options: Any) -> Spec:
    """Return what shows the numbers of a field."""
    return {"field": field, "type": "quantitative"} | options


def _words(field: str, **options: Any) -> Spec:
    """Return what shows the words of a field."""
    return {"field": field, "type": "nominal"} | options


def _legend(**options: Any) -> Spec:
    return {"orient": "top", "symbolType": "stroke", "symbolSize": 400} | options


def _mark(kind: str, **options: Any) -> Spec:
    return {"type": kind} | options


def _layer(data: str | Sequence[Spec], mark: Spec, **encoding: Any) -> Spec:
    """Return a layer of rows that the page names, or of rows that are part of the chart itself."""
    rows = {"name": data} if isinstance(data, str) else {"values": data}
    return {"data": rows, "mark": mark, "encoding": encoding}


def _layers(height: int, *layers: Spec) -> Spec:
    """Return a chart as wide as its container, in the colours of the page."""
    return _LOOK | {"height": height, "layer": list(layers)}
