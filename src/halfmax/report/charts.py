"""The interactive pictures, as Vega-Lite; colours are those of the page, in light and in dark."""

from typing import Any, Literal

import numpy as np

from halfmax.displays.style import CURVES
from halfmax.metrics.flooding import FLOOD_SHARE, FLOOD_TIMES
from halfmax.metrics.words import metric_name
from halfmax.report.content import Content

SCORE_NAME = "scoreName"  # what the page calls the score that it shows
INK, GREY, LINE = "var(--ink)", "var(--quiet)", "var(--line)"
BLUE, ORANGE, BAND = "var(--blue)", "var(--orange)", "var(--band)"
_FONT = "system-ui, sans-serif"
_BINS = 40


def charts_of(content: Content) -> dict[str, Any]:
    """The pictures by the id of their place on the page."""
    whole, metric = _whole(content), metric_name(content.subject.thresholds.metric)
    found = {
        "curve": curve(whole, "linear", metric),
        "curve-log": curve(whole, "log", metric),
    }
    if len(content.names) > 1:
        choice = content.tuned.choice
        if ((choice.counts.predicted > 0) & (choice.counts.positives > 0)).any():
            found["health"] = health(content)
        if np.isfinite(content.half_max).any():
            found["half-max"] = half_max()
        if content.assessment is not None and content.subject.tuned_here:
            found["honest"] = honest(whole)
    if content.assessment is not None and np.isfinite(content.assessment.resampled_scores).any():
        found["resampled"] = resampled(content)
    return {name: _finished(chart) for name, chart in found.items()}


def curve(whole: Any, scale: Literal["linear", "log"], metric: str) -> Any:
    """Score, precision and recall against the threshold; the page fills in one label's numbers."""
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
    """The score, precision and recall; a metric that is one of these is drawn once."""
    return [kind for kind in CURVES if kind == "score" or kind != metric]


def _kinds(metric: str) -> tuple[Any, Any]:
    """Colours and dashes of curves, with one legend, which names the score as it is at present.

    Both scales name what they are for, so that colours keep their meaning when data change, and
    Vega-Lite sees that one legend serves both.
    """
    import altair as alt

    kinds = kinds_of_curves(metric)
    colours = alt.Scale(domain=kinds, range=[f"var(--{CURVES[kind][0]})" for kind in kinds])
    dashes = alt.Scale(domain=kinds, range=[list(CURVES[kind][1]) or [1, 0] for kind in kinds])
    words = f"datum.label == 'score' ? {SCORE_NAME} : datum.label"
    top = alt.Legend(orient="top", symbolType="stroke", symbolSize=400, labelExpr=words)
    colour = alt.Color("kind:N", title=None, scale=colours, legend=top)
    return colour, alt.StrokeDash("kind:N", title=None, scale=dashes, legend=top)


def _whole(content: Content) -> Any:
    """From 0 to 1, unless a metric goes beyond."""
    import altair as alt

    return alt.Scale(domain=[0, 1]) if content.is_bounded else alt.Scale()


def _names(x: Any) -> Any:
    """The names of marks, beside their lines and towards the middle."""
    import altair as alt

    side, away = alt.expr("datum.side"), alt.expr("datum.side == 'left' ? 4 : -4")
    chart = alt.Chart(alt.NamedData("marks")).mark_text(align=side, dx=away, color=INK)
    return chart.encode(x, alt.Y("place:Q", scale=None), text="name:N")


def health(content: Content) -> Any:
    """The share of rows that a label is predicted for, against the share that has it."""
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
    """The threshold chosen, against the one that calibrated probabilities would have."""
    import altair as alt

    x = alt.X("half_max:Q", title="F*/2, or the metric's rule: the threshold if calibrated")
    points = _points(x, alt.Y("threshold:Q", title="threshold chosen"))
    ends = _values([{"half_max": 0, "threshold": 0}, {"half_max": 0.5, "threshold": 0.5}])
    line = alt.Chart(ends).mark_line(strokeDash=[5, 3], color=GREY)
    return alt.layer(line.encode(x, alt.Y("threshold:Q")), points).properties(height=340)


def honest(whole: Any) -> Any:
    """What each label will show on new data, against what it shows here."""
    import altair as alt

    # Each tick by itself: a format for the whole axis would take thousands for the unit of all.
    each = "format(datum.value, '~s')"
    powers = alt.Axis(values=[0, *(10**power for power in range(10))], labelExpr=each)
    x = alt.X("support:Q", title="positives", scale=alt.Scale(type="symlog"), axis=powers)
    long = alt.Y("score:Q", title="score here, down to what is expected", scale=whole)
    bars = alt.Chart(alt.NamedData("labels")).mark_rule(opacity=0.35, color=GREY)
    return alt.layer(bars.encode(x, long, y2="expected:Q"), _points(x, long)).properties(height=340)


def _points(x: Any, y: Any) -> Any:
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
    """How likely each score on new data is, as far as these data can tell."""
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
    high = alt.Y("share:Q", title="share of draws")
    bar = alt.Chart(bars).mark_rect(color=BLUE, opacity=0.6)
    bar = bar.encode(x, alt.X2("high:Q"), high, alt.Y2Datum(0))
    colours, dashes = alt.Scale(range=[INK, ORANGE]), alt.Scale(range=[[1, 0], [6, 3]])
    top = alt.Legend(orient="top", symbolType="stroke", symbolSize=400)
    name = alt.Color("name:N", title=None, scale=colours, sort=None, legend=top)
    dash = alt.StrokeDash("name:N", title=None, scale=dashes, sort=None, legend=top)
    rule = alt.Chart(rules).mark_rule(strokeWidth=2.5).encode(x, name, dash)
    return alt.layer(bar, rule).properties(height=240)


def _values(rows: list[dict[str, Any]]) -> Any:
    """Rows that stand in the picture itself."""
    import altair as alt

    return alt.InlineData(rows)


def _finished(chart: Any) -> dict[str, Any]:
    """As wide as its place, in the colours of the page."""
    words: dict[str, Any] = {
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
            **words, gridColor=LINE, domainColor=GREY, tickColor=GREY, titleFontWeight="normal"
        )
        .configure_legend(**words, symbolStrokeWidth=2)
        .configure_text(fontSize=12)
    )
    spec: dict[str, Any] = styled.to_dict()
    return spec
