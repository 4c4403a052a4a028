"""The interactive charts of the report as Vega-Lite, in the colours of the page."""

from typing import Any, Literal

import numpy as np

from halfmax.displays.style import CURVES
from halfmax.metrics.flooding import FLOOD_SHARE, FLOOD_TIMES
from halfmax.metrics.words import metric_name
from halfmax.report.content import Content

SCORE_NAME = "scoreName"  # the name of the score that the page shows
INK, GREY, LINE = "var(--ink)", "var(--quiet)", "var(--line)"
BLUE, ORANGE, BAND = "var(--blue)", "var(--orange)", "var(--band)"
_FONT = "system-ui, sans-serif"
_BINS = 40


def charts_of(content: Content) -> dict[str, Any]:
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
    return {name: _finished(chart) for name, chart in charts.items()}


def curve(whole: Any, scale: Literal["linear", "log"], metric: str) -> Any:
    """Return score, precision and recall against the threshold; the page fills in the numbers."""
    import altair as alt

    x = alt.X("threshold:Q", title="threshold", scale=alt.Scale(type=scale, nice=False))
    y = alt.Y("value:Q", title=None, scale=whole)
    colour, dash = _kinds(metric)
    shown = [alt.Tooltip("what:N", title="what"), alt.Tooltip("value:Q", format=".4f")]
    shown.append(alt.Tooltip("threshold:Q", format=".6g"))
    # Between two thresholds the same positives are predicted as at the upper one.
    lines = alt.Chart(alt.NamedData("curve")).mark_line(strokeWidth=2, interpolate="step-before")
    dots = alt.Chart(alt.NamedData("dots")).mark_point(size=16, filled=True, opacity=1)
    band = alt.Chart(alt.NamedData("band")).mark_rect(color=BAND).encode(x, x2="high:Q")
    seen = alt.Opacity("seen:Q", scale=None, legend=None)
    now = alt.Chart(alt.NamedData("now")).mark_rule(color=INK, strokeWidth=3)
    layers = [
        band,
        alt.Chart(alt.NamedData("marks")).mark_rule(strokeDash=[3, 3], color=INK).encode(x),
        lines.encode(x, y, colour, dash),
        dots.encode(x, y, colour, tooltip=shown),
        now.encode(x, opacity=seen),
        _names(x),
    ]
    named = alt.param(name=SCORE_NAME, value=metric)
    return alt.layer(*layers).properties(height=320).add_params(named)


def kinds_of_curves(metric: str) -> list[str]:
    """Return which curves to draw; precision or recall is drawn once if it is the metric."""
    return [kind for kind in CURVES if kind == "score" or kind != metric]


def _kinds(metric: str) -> tuple[Any, Any]:
    """Return colours and dashes of curves, with one legend that shows the current score's name.

    Both scales list their curves, so that colours keep their meaning when the data change, and so
    that Vega-Lite merges the two legends.
    """
    import altair as alt

    kinds = kinds_of_curves(metric)
    colours = alt.Scale(domain=kinds, range=[f"var(--{CURVES[kind][0]})" for kind in kinds])
    dashes = alt.Scale(domain=kinds, range=[list(CURVES[kind][1]) or [1, 0] for kind in kinds])
    label = f"datum.label == 'score' ? {SCORE_NAME} : datum.label"
    top = alt.Legend(orient="top", symbolType="stroke", symbolSize=400, labelExpr=label)
    colour = alt.Color("kind:N", title=None, scale=colours, legend=top)
    return colour, alt.StrokeDash("kind:N", title=None, scale=dashes, legend=top)


def _whole(content: Content) -> Any:
    """Return a scale from 0 to 1, or an open one if the metric exceeds that range."""
    import altair as alt

    return alt.Scale(domain=[0, 1]) if content.is_bounded else alt.Scale()


def _names(x: Any) -> Any:
    """Return the names of marks, beside their lines and towards the middle."""
    import altair as alt

    side, away = alt.expr("datum.side"), alt.expr("datum.side == 'left' ? 4 : -4")
    chart = alt.Chart(alt.NamedData("marks")).mark_text(align=side, dx=away, color=INK)
    return chart.encode(x, alt.Y("place:Q", scale=None), text="name:N")


def health(content: Content) -> Any:
    """Return the share of rows predicted for each label, against the share that has it."""
    import altair as alt

    powers = [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1]
    axis = alt.Axis(labelExpr="format(datum.value, '~p')", values=powers)
    scale = alt.Scale(type="log", domainMax=1)
    x = alt.X("base_rate:Q", title="share of rows with the label", scale=scale, axis=axis)
    y = alt.Y("share:Q", title="share of rows predicted", scale=scale, axis=axis)
    points = _points(x, y)
    corner = FLOOD_SHARE / FLOOD_TIMES
    rarest = 1.0 / max(float(content.tuned.choice.counts.total.max()), 1.0)
    edge = _values(
        [
            {"base_rate": min(rarest, corner / 2), "share": FLOOD_SHARE},
            {"base_rate": corner, "share": FLOOD_SHARE},
            {"base_rate": 1 / FLOOD_TIMES, "share": 1},
        ]
    )
    line = alt.Chart(edge).mark_line(strokeDash=[5, 3], color=ORANGE, clip=True).encode(x, y)
    return alt.layer(line, points).properties(height=340)


def half_max() -> Any:
    """Return the chosen thresholds, against those of calibrated probabilities."""
    import altair as alt

    x = alt.X("half_max:Q", title="F*/2 (or the rule of the metric): the threshold if calibrated")
    points = _points(x, alt.Y("threshold:Q", title="chosen threshold"))
    ends = _values([{"half_max": 0, "threshold": 0}, {"half_max": 0.5, "threshold": 0.5}])
    line = alt.Chart(ends).mark_line(strokeDash=[5, 3], color=GREY)
    return alt.layer(line.encode(x, alt.Y("threshold:Q")), points).properties(height=340)


def honest(whole: Any) -> Any:
    """Return the score of each label here, and the score to expect on new data."""
    import altair as alt

    # Each tick is formatted by itself: a format of the axis would use thousands for all ticks.
    each = "format(datum.value, '~s')"
    powers = alt.Axis(values=[0, *(10**power for power in range(10))], labelExpr=each)
    x = alt.X("support:Q", title="positives", scale=alt.Scale(type="symlog"), axis=powers)
    long = alt.Y("score:Q", title="score here, down to the expected score", scale=whole)
    bars = alt.Chart(alt.NamedData("labels")).mark_rule(opacity=0.35, color=GREY)
    return alt.layer(bars.encode(x, long, y2="expected:Q"), _points(x, long)).properties(height=340)


def _points(x: Any, y: Any) -> Any:
    """Return one point for each label; flooding labels are orange triangles."""
    import altair as alt

    flooding = alt.condition("datum.flooding", alt.value(ORANGE), alt.value(BLUE))
    shape = alt.condition("datum.flooding", alt.value("triangle-up"), alt.value("circle"))
    shown = [
        alt.Tooltip("name:N", title="label"),
        alt.Tooltip("support:Q", title="positives", format=","),
        alt.Tooltip("predicted:Q", title="predicted", format=","),
        alt.Tooltip("threshold:Q", format=".4g"),
        alt.Tooltip("score:Q", format=".4f"),
        alt.Tooltip("expected:Q", title="expected on new data", format=".4f"),
        alt.Tooltip("findings:N"),
    ]
    chart = alt.Chart(alt.NamedData("labels")).mark_point(size=45, cursor="pointer")
    return chart.encode(x, y, color=flooding, shape=shape, tooltip=shown)


def resampled(content: Content) -> Any:
    """Return a histogram of the scores to expect on new data."""
    import altair as alt

    assert content.assessment is not None
    draws = content.assessment.resampled_scores
    known = draws[np.isfinite(draws)]
    counts, edges = np.histogram(known, _BINS)
    bars = _values(
        [
            {"low": float(low), "high": float(high), "share": float(count / max(len(known), 1))}
            for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
        ]
    )
    lines = {"expected on new data": content.assessment.expected_score}
    if content.subject.tuned_here:
        lines["on the data tuned on"] = content.score
    rules = _values(
        [{"low": value, "name": name} for name, value in lines.items() if np.isfinite(value)]
    )
    x = alt.X("low:Q", title="score", scale=alt.Scale(zero=False))
    high = alt.Y("share:Q", title="share of resamples")
    bar = alt.Chart(bars).mark_rect(color=BLUE, opacity=0.6)
    bar = bar.encode(x, alt.X2("high:Q"), high, alt.Y2Datum(0))
    colours, dashes = alt.Scale(range=[INK, ORANGE]), alt.Scale(range=[[1, 0], [6, 3]])
    top = alt.Legend(orient="top", symbolType="stroke", symbolSize=400)
    name = alt.Color("name:N", title=None, scale=colours, sort=None, legend=top)
    dash = alt.StrokeDash("name:N", title=None, scale=dashes, sort=None, legend=top)
    rule = alt.Chart(rules).mark_rule(strokeWidth=2.5).encode(x, name, dash)
    return alt.layer(bar, rule).properties(height=240)


def _values(rows: list[dict[str, Any]]) -> Any:
    """Return rows that are part of the chart itself."""
    import altair as alt

    return alt.InlineData(rows)


def _finished(chart: Any) -> dict[str, Any]:
    """Return the chart as wide as its container, in the colours of the page."""
    text: dict[str, Any] = {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 12,
        "titleFontSize": 12,
    }
    styled = (
        chart.properties(width="container", background="transparent")
        .configure(font=_FONT)
        .configure_view(stroke=None)
        .configure_axis(
            **text, gridColor=LINE, domainColor=GREY, tickColor=GREY, titleFontWeight="normal"
        )
        .configure_legend(**text, symbolStrokeWidth=2)
        .configure_text(fontSize=12)
    )
    spec: dict[str, Any] = styled.to_dict()
    return spec
