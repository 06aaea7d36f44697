"""Draws figures with matplotlib: PNG for the screen, SVG for print."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import count
from math import ceil, floor, log10
from pathlib import Path
from textwrap import wrap
from typing import Any

from penstock.bench.results import Figure, Panel, Series

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000", "#999999")
"""The palette of Okabe and Ito, which is safe for colour blindness, with grey for yellow; markers differ as well."""

MARKERS = "os^DvP*X"
HOME = {
    "Penstock on DuckDB": 0,
    "Penstock on Spark": 1,
    "pyoxigraph": 2,
    "rdflib": 3,
    "rsp-js": 4,
    "Penstock on DuckDB, as it comes": 5,
    "Penstock on DuckDB, one after another": 5,
    "pyoxigraph, by hand": 6,
    "Jena": 4,
    "penstock run": 7,
}
"""A system has the same colour in all experiments."""

WIDTH, HEIGHT = 5.2, 3.9
"""The size of a panel in inches; text has 10 points."""

LEAST_WIDTH = 7.5
MOST_IN_A_ROW = 3
LETTERS_PER_INCH = 10
MOST_TICKS = 6
MANY_NAMES = 8
"""More names side by side need a smaller font."""

DOTS_PER_INCH = 130


def can_draw() -> bool:
    return find_spec("matplotlib") is not None


def draw(figure: Figure, folder: Path) -> list[Path]:
    """Writes FIGURE.png and FIGURE.svg."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Canvas

    settings: Any = {"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": figure.name, "axes.grid": True}
    settings |= {"grid.alpha": 0.3, "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False}
    with rc_context(settings):
        across = len(figure.panels) if len(figure.panels) <= MOST_IN_A_ROW else (len(figure.panels) + 1) // 2
        down = -(-len(figure.panels) // across)
        width = max(WIDTH * across, LEAST_WIDTH)
        canvas = Canvas(figsize=(width, HEIGHT * down + 0.8), layout="constrained")
        canvas.suptitle("\n".join(wrap(figure.title, int(width * LETTERS_PER_INCH))), fontsize=12, fontweight="bold")
        names = list(dict.fromkeys(series.name for panel in figure.panels for series in panel.series))
        styles = _styles(names)
        for place, panel in enumerate(figure.panels, 1):
            heights = [y for other in figure.panels if other.y == panel.y for y in other.heights]
            _draw_panel(canvas.add_subplot(down, across, place), panel, styles, heights)
        if len(names) > 1:
            handles = {label: handle for axes in canvas.axes for handle, label in _legend(axes)}
            columns = _legend_columns(names, width)
            canvas.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=columns)
        paths = [folder / f"{figure.name}.{ending}" for ending in ("png", "svg")]
        for path in paths:
            canvas.savefig(path, dpi=DOTS_PER_INCH, metadata={"Date": None} if path.suffix == ".svg" else None)
    return paths


def _legend_columns(names: list[str], width: float) -> int:
    """Wraps names into as few lines as fit, of similar length."""
    longest = max(map(len, names)) / LETTERS_PER_INCH + 0.8
    most = max(1, min(len(names), int(width / longest)))
    return ceil(len(names) / ceil(len(names) / most))


def _legend(axes: Any) -> list[tuple[Any, str]]:
    return list(zip(*axes.get_legend_handles_labels(), strict=True))


def _styles(names: list[str]) -> dict[str, int]:
    """The colour index of each name: its fixed one, or the next free one."""
    taken = {HOME[name] for name in names if name in HOME}
    free = (place for place in count() if place not in taken)
    return {name: HOME[name] if name in HOME else next(free) for name in names}


def _draw_panel(axes: Any, panel: Panel, styles: dict[str, int], heights: list[float]) -> None:
    """`heights` are the heights of all panels with the same axis, so that the axis is equally long in all of them."""
    axes.set_title(panel.title, fontsize=10)
    axes.set_xlabel(panel.x.label)
    axes.set_ylabel(panel.y.label)
    if panel.kind == "bars":
        _draw_bars(axes, panel.series, styles)
    else:
        _draw_lines(axes, panel, styles)
    if panel.y.is_logarithmic:
        _stretch_over_decades(axes, min(heights), max(heights))
    else:
        axes.set_ylim(0, 1.08 * max(heights))


def _stretch_over_decades(axes: Any, least: float, most: float) -> None:
    """Extends the range to powers of ten, so that the axis always has two labels."""
    first, last = floor(log10(least / 1.5)), ceil(log10(most))
    axes.set_yscale("log")
    axes.set_ylim(10.0**first, 10.0 ** max(last, first + 1))
    axes.yaxis.set_major_formatter(lambda value, place: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    axes.yaxis.set_minor_formatter("")
    axes.grid(visible=True, axis="y", which="minor", alpha=0.12)


def _draw_lines(axes: Any, panel: Panel, styles: dict[str, int]) -> None:
    from matplotlib.ticker import MaxNLocator

    places = sorted({x for series in panel.series for x, _ in series.points if not isinstance(x, str)})
    if panel.x.is_logarithmic:
        axes.set_xscale("log")
        if len(places) <= MOST_TICKS:
            axes.set_xticks(places, [f"{place:,g}" for place in places])
            axes.minorticks_off()
    elif all(float(place).is_integer() for place in places):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    else:
        axes.set_xlim(0, 1.05 * max(places))
        axes.xaxis.set_major_formatter(lambda value, place: f"{value:,g}")
    drawn = "steps-post" if panel.kind == "steps" else "default"
    for series in panel.series:
        style = styles[series.name]
        marker = MARKERS[style % len(MARKERS)] if len(series.points) <= 30 else ""
        colour = COLOURS[style % len(COLOURS)]
        axes.plot(*_columns(series), color=colour, marker=marker, drawstyle=drawn, label=series.name)


def _draw_bars(axes: Any, series: tuple[Series, ...], styles: dict[str, int]) -> None:
    """A group of bars for each name; systems that were not measured take no space."""
    names = list(dict.fromkeys(str(x) for one in series for x, _ in one.points))
    groups = {name: [one.name for one in series if any(str(x) == name for x, _ in one.points)] for name in names}
    width = 0.8 / max(map(len, groups.values()))
    for one in series:
        shown = [(str(x), y) for x, y in one.points]
        places = [groups[name].index(one.name) - (len(groups[name]) - 1) / 2 for name, _ in shown]
        middles = [names.index(name) + place * width for (name, _), place in zip(shown, places, strict=True)]
        colour = COLOURS[styles[one.name] % len(COLOURS)]
        axes.bar(middles, [y for _, y in shown], width * 0.92, color=colour, label=one.name)
    size = 10 if len(names) <= MANY_NAMES else 8
    axes.set_xticks(range(len(names)), names, fontsize=size)
    axes.grid(visible=False, axis="x", which="both")


def _columns(series: Series) -> tuple[list[float | str], list[float]]:
    return [x for x, _ in series.points], [y for _, y in series.points]
