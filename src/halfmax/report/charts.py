"""The interactive charts of the report as Vega-Lite, in the colours of the page."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from halfmax.displays.style import CURVES
from halfmax.metrics.flooding import FLOOD_SHARE, FLOOD_TIMES
from halfmax.metrics.words import metric_name
from halfmax.report.content import Content

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
    whole, metric = _whole(content), metric_name(content.subject.thresholds.metric)
    charts = {
        "curve": curve(whole, "linear", metric),
        "curve-log": curve(whole, "log", metric),
    }
    if len(content.names) > 1:
        choice = content.tuned.choice
        if ((choice.counts.predicted > 0) & (choice.counts.positives > 0)).any():
            charts["health"] = health(content)
        if np.isfinite(content.half_max).any():
            charts["half-max"] = half_max()
        if content.assessment is not None and content.subject.tuned_here:
            charts["honest"] = honest(whole)
    if content.assessment is not None and np.isfinite(content.assessment.resampled_scores).any():
        charts["resampled"] = resampled(content)
    return charts


def curve(whole: Spec, scale: Literal["linear", "log"], metric: str) -> Spec:
    """Return score, precision and recall against the threshold; the page fills in the numbers."""
    x = _number("threshold", title="threshold", scale={"type": scale, "nice": False})
    y = _number("value", title=None, scale=whole)
    colour, dash = _kinds(metric)
    shown = [
        _words("what", title="what"),
        _number("value", format=".4f"),
        _number("threshold", format=".6g"),
    ]
    # Between two thresholds the same positives are predicted as at the upper one.
    line = _mark("line", strokeWidth=2, interpolate="step-before")
    dot = _mark("point", size=16, filled=True, opacity=1)
    seen = _number("seen", scale=None, legend=None)
    chart = _layers(
        320,
        _layer("band", _mark("rect", color=BAND), x=x, x2={"field": "high"}),
        _layer("marks", _mark("rule", strokeDash=[3, 3], color=INK), x=x),
        _layer("curve", line, x=x, y=y, color=colour, strokeDash=dash),
        _layer("dots", dot, x=x, y=y, color=colour, tooltip=shown),
        _layer("now", _mark("rule", color=INK, strokeWidth=3), x=x, opacity=seen),
        _names(x),
    )
    return chart | {"params": [{"name": SCORE_NAME, "value": metric}]}


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
    """Return a scale from 0 to 1, or an open one if the metric exceeds that range."""
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
    return _layers(340, line, _points(x, y))


def half_max() -> Spec:
    """Return the chosen thresholds, against those of calibrated probabilities."""
    title = "F*/2 (or the rule of the metric): the threshold if calibrated"
    x = _number("half_max", title=title)
    ends = [{"half_max": both, "threshold": both} for both in (0, 0.5)]
    mark = _mark("line", strokeDash=[5, 3], color=GREY)
    line = _layer(ends, mark, x=x, y=_number("threshold"))
    return _layers(340, line, _points(x, _number("threshold", title="chosen threshold")))


def honest(whole: Spec) -> Spec:
    """Return the score of each label here, and the score to expect on new data."""
    powers = [0, *(10**power for power in range(10))]
    # Each tick is formatted by itself: a format of the axis would use thousands for all ticks.
    axis = {"values": powers, "labelExpr": "format(datum.value, '~s')"}
    x = _number("support", title="positives", scale={"type": "symlog"}, axis=axis)
    y = _number("score", title="score here, down to the expected score", scale=whole)
    mark = _mark("rule", opacity=0.35, color=GREY)
    bars = _layer("labels", mark, x=x, y=y, y2={"field": "expected"})
    return _layers(340, bars, _points(x, y))


def _points(x: Spec, y: Spec) -> Spec:
    """Return one point for each label; flooding labels are orange triangles."""
    shown = [
        _words("name", title="label"),
        _number("support", title="positives", format=","),
        _number("predicted", title="predicted", format=","),
        _number("threshold", format=".4g"),
        _number("score", format=".4f"),
        _number("expected", title="expected on new data", format=".4f"),
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
    draws = content.assessment.resampled_scores
    lines = {"expected on new data": content.assessment.expected_score}
    if content.subject.tuned_here:
        lines["on the data tuned on"] = content.score
    known = {name: value for name, value in lines.items() if np.isfinite(value)}
    rules = [{"low": value, "name": name} for name, value in known.items()]
    x = _number("low", title="score", scale={"zero": False})
    share = _number("share", title="share of resamples")
    bar = _mark("rect", color=BLUE, opacity=0.6)
    colour, dash = (
        _words("name", title=None, scale={"range": shades}, sort=None, legend=_legend())
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
