"""The charts, in Vega-Lite's words (https://vega.github.io/vega-lite/docs): one for each kind of plot.

A chart reads the fields of its plot's columns. Words that begin with `@` are the plot's own. Colours are
variables of the style sheet, so that light, dark and print need no second drawing.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Spec: TypeAlias = "dict[str, Any]"

_HEIGHT = 200
_A, _B = "var(--a)", "var(--b)"
_SERIES = [f"var(--c{number})" for number in range(1, 9)]
_DASHED = [5, 3]

CONFIG: Spec = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--ink)",
        "titleFontWeight": "normal",
        "gridColor": "var(--line)",
        "domainColor": "var(--soft)",
        "tickColor": "var(--soft)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "labelOverlap": "greedy",
        "labelSeparation": 6,
    },
    "legend": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--ink)",
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "orient": "top",
        "symbolStrokeWidth": 3,
    },
    "text": {"color": "var(--ink)", "fontSize": 12},
    "line": {"strokeWidth": 2},
    "range": {"category": _SERIES},
}


def _field(name: str, kind: str, **more: Any) -> Spec:
    return {"field": name, "type": kind, **more}


def _number(name: str, title: str, *, zero: bool = False, **more: Any) -> Spec:
    scale = more.pop("scale", {"zero": zero})
    return _field(name, "quantitative", title=title, scale=scale, **more)


def _layers(*layers: Spec, **more: Any) -> Spec:
    return {"width": "container", "height": _HEIGHT, "data": {"name": "rows"}, **more, "layer": list(layers)}


_WHOSE = _field("whose", "nominal", title=None, scale={"domain": "@whose", "range": [_B, _A, "var(--soft)"]})
"""What was measured, and what it is held against."""


_ARMS = _field("arm", "nominal", title=None, scale={"domain": ["A", "B"], "range": [_A, _B]})
_BAND = {"data": {"name": "band"}}
_RULE = {"type": "rule", "color": "var(--soft)"}
_SESSION = (  # month, day, hour and minute of a session's name
    "length(datum.label) > 19 ? slice(datum.label, 5, 10) + ' ' + slice(datum.label, 11, 16) : datum.label"
)
_NINES = (
    "datum.value < 0.2 ? 'p10' : datum.value < 0.5 ? 'p50' : datum.value < 1.5 ? 'p90' : "
    "datum.value < 2.5 ? 'p99' : datum.value < 3.5 ? 'p99.9' : datum.value < 4.5 ? 'p99.99' : 'p99.999'"
)


def _strip() -> Spec:
    value = _number("value", "@value")
    return _layers(
        {**_BAND, "mark": {"type": "rect", "color": "var(--band)"}, "encoding": {
            "y": _field("base", "quantitative"), "y2": {"field": "bound"}}},
        {**_BAND, "mark": _RULE, "encoding": {"y": _field("base", "quantitative")}},
        {**_BAND, "mark": {**_RULE, "strokeDash": _DASHED, "color": "var(--bad)"}, "encoding": {
            "y": _field("bound", "quantitative")}},
        {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 0.8}, "encoding": {
            "x": _field("session", "nominal", sort=None, title=None,
                        axis={"labelAngle": -30, "labelExpr": _SESSION}),
            "y": value,
            "color": _field("whose", "nominal", legend=None,
                            scale={"domain": ["now", "baseline"], "range": [_B, _A]}),
        }},
    )  # fmt: skip


def _over_time() -> Spec:
    return _layers(
        {"mark": {"type": "line", "point": {"size": 18}, "opacity": 0.85}, "encoding": {
            "x": _number("second", "second", axis={"values": "@ticks", "format": "d"}),
            "y": _number("value", "@value", zero=True),
            "color": _field("number", "ordinal", title="repetition", scale={"range": _SERIES}),
        }},
    )  # fmt: skip


def _latency() -> Spec:
    ticks = {"values": "@ticks", "labelExpr": _NINES}
    return _layers(
        {"mark": {"type": "line", "point": {"size": 36}}, "encoding": {
            "x": _number("nines", "percentile", axis=ticks, scale={"zero": False, "nice": False}),
            "y": _number("value", "@value", scale={"type": "log"}),
            "color": _WHOSE,
        }},
    )  # fmt: skip


def _slices() -> Spec:
    starts = {"data": {"name": "starts"}}
    return _layers(
        {**starts, "mark": {"type": "rule", "color": "var(--line)"}, "encoding": {
            "x": _field("second", "quantitative")}},
        {"mark": {"type": "point", "filled": True, "size": 16, "opacity": 0.85}, "encoding": {
            "x": _number("second", "second", zero=True),
            "y": _number("value", "@value", zero=True),
            "color": _ARMS,
            "shape": _field("arm", "nominal", title=None, scale={"domain": ["A", "B"]}),
        }},
    )  # fmt: skip


def _blocks() -> Spec:
    value = _number("value", "difference (%)")
    shape = _field("places", "nominal", legend=None)
    places = _field("places", "nominal", title="places", scale={"range": ["var(--c1)", "var(--c4)"]})
    return _layers(
        {**_BAND, "mark": {"type": "rect", "color": "var(--band)"}, "encoding": {
            "y": _field("low", "quantitative"), "y2": {"field": "high"}}},
        {**_BAND, "mark": {**_RULE, "color": "var(--good)", "strokeWidth": 2}, "encoding": {"y": value}},
        {"data": {"name": "zero"}, "mark": _RULE, "encoding": {"y": value}},
        {"data": {"name": "bound"}, "mark": {**_RULE, "color": "var(--bad)", "strokeDash": _DASHED},
         "encoding": {"y": value}},
        {"data": {"name": "places"}, "mark": {"type": "rule", "strokeDash": [2, 3]}, "encoding": {
            "y": value, "color": places}},
        {"mark": {"type": "point", "filled": True, "size": 50}, "encoding": {
            "x": _number("block", "block", axis={"values": "@ticks"}, scale={"zero": False, "padding": 12}),
            "y": value, "color": places,
            "shape": shape}},
    )  # fmt: skip


def _by_count() -> Spec:
    return _layers(
        {"mark": {"type": "line", "point": {"size": 36}}, "encoding": {
            "x": _number("count", "@each", zero=True, axis={"values": "@ticks"}),
            "y": _number("value", "@value", zero=True),
            "color": _WHOSE,
            "strokeDash": {
                "condition": {"test": "datum.whose == 'ideal'", "value": _DASHED}, "value": [1, 0]},
        }},
    )  # fmt: skip


def _knee(*layers: Spec) -> Spec:
    place = {"x": _field("x", "quantitative"), "y": _field("y", "quantitative")}
    ring = {"type": "point", "size": 260, "color": "var(--bad)", "strokeWidth": 2}
    word = {"type": "text", "dy": -16, "color": "var(--bad)"}
    knee = {"data": {"name": "knee"}}
    return _layers(
        *layers,
        {**knee, "mark": ring, "encoding": place},
        {**knee, "mark": word, "encoding": {**place, "text": {"field": "text"}}},
        height=260,
    )


def _loaded() -> Spec:
    return _knee(
        {"mark": {"type": "line", "point": {"size": 30}}, "encoding": {
            "x": _number("x", "@x", zero=True),
            "y": _number("y", "@y", zero=True),
            "order": {"field": "delay"},
            "color": _WHOSE,
        }},
    )  # fmt: skip


def _frontier() -> Spec:
    axes = {"x": _number("x", "@x", zero=True), "y": _number("y", "@y", scale={"type": "log"})}
    series = _field("series", "nominal", title=None, sort=None, scale={"range": _SERIES})
    ringed = [{"filter": "datum.knee == 'knee'"}]
    return _layers(
        {"mark": {"type": "line", "point": {"size": 30}}, "encoding": {
            **axes, "color": series, "order": {"field": "order"}}},
        {"mark": {"type": "text", "dy": -9, "fontSize": 11}, "encoding": {
            **axes, "text": {"field": "depth"}, "color": series}},
        {"transform": ringed, "mark": {"type": "point", "size": 220, "strokeWidth": 2}, "encoding": {
            **axes, "color": series}},
        height=280,
    )  # fmt: skip


def _by_block() -> Spec:
    return _layers(
        {"mark": {"type": "line", "point": {"size": 30}}, "encoding": {
            "x": _field("block", "ordinal", title="@block", sort=None, axis={"labelAngle": 0}),
            "y": _number("value", "@value", zero=True),
            "color": _field("series", "nominal", title=None, sort=None, scale={"range": _SERIES}),
        }},
    )  # fmt: skip


def _heat() -> Spec:
    place = {
        "x": _field("x", "ordinal", title="@x", sort=None, axis={"labelAngle": 0, "grid": False}),
        "y": _field("y", "ordinal", title="@y", sort=None, axis={"grid": False}),
    }
    shades = {"type": "quantile", "range": [f"var(--h{number})" for number in range(1, 6)]}
    return _layers(
        {"mark": {"type": "rect", "stroke": "var(--paper)"}, "encoding": {
            **place, "color": _field("value", "quantitative", legend=None, scale=shades)}},
        {"mark": "text", "encoding": {
            **place, "text": _field("value", "quantitative", format=".3~r")}},
    )  # fmt: skip


def _history() -> Spec:
    across = _field(
        "session", "nominal", sort=None, title=None, axis={"labelExpr": _SESSION, "labelAngle": -30}
    )
    bar = {"type": "rule", "strokeDash": _DASHED, "color": "var(--bad)"}
    side = {"condition": {"test": "datum.side == 'better'", "value": "var(--good)"}, "value": "var(--bad)"}
    return _layers(
        {"mark": {"type": "rule", "color": "var(--a)"}, "encoding": {
            "x": across, "y": _number("low", "@value"), "y2": {"field": "high"}}},
        {"mark": {"type": "point", "filled": True, "size": 45}, "encoding": {
            "x": across, "y": _number("value", "@value"), "color": {"value": _A},
            "shape": _field("what", "nominal", title=None, scale={
                "domain": ["session", "stands out alone"], "range": ["circle", "cross"]})}},
        {"data": {"name": "levels"}, "mark": {"type": "rule", "color": _B, "strokeWidth": 2}, "encoding": {
            "x": _field("from", "nominal", sort=None), "x2": {"field": "to"},
            "y": _field("level", "quantitative")}},
        {"data": {"name": "changes"}, "mark": bar, "encoding": {"x": across, "color": side}},
    )  # fmt: skip


CHARTS: dict[str, Spec] = {
    "history": _history(),
    "strip": _strip(),
    "over_time": _over_time(),
    "latency": _latency(),
    "slices": _slices(),
    "blocks": _blocks(),
    "by_count": _by_count(),
    "loaded": _loaded(),
    "frontier": _frontier(),
    "by_block": _by_block(),
    "heat": _heat(),
}
"""The charts by their kind."""
