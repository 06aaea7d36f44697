"""Barbieri, Braga, Ceri and Grossniklaus (2010), Figure 7: the gain of pushing filters towards the data.

The query of the paper sums the daily turnover of Swiss brokers in transactions of at least 10. (a) The window grows:
more transactions per day. (b) The data set grows: more brokers. There are four variants: as written, without the
optimizer; the filter on static data pushed by hand; the filter on the stream pushed by hand; both pushed by the
optimizer. All take turns, and the best round of each counts; their answers must be equal.

The clock runs from the text of the query and the files to all rows of three days. The figure shows processor time.
DuckDB and Spark also push filters themselves where they can; the figure shows the remaining gain. With --quick only the
first engine is measured.
"""

from __future__ import annotations

from functools import partial

from penstock.bench.answers import compare
from penstock.bench.context import ExperimentContext
from penstock.bench.csparql.market import (
    BOTH,
    BROKERS,
    MARKET,
    VARIANTS,
    WRITTEN,
    write_brokers,
    write_market,
)
from penstock.bench.results import Axis, Cell, Figure, Panel, Point, Result, Series, Table
from penstock.bench.systems import DataFiles, Penstock

DAYS = 3
PARTS = (100, 10, 1)
"""Fractions of the largest size."""

COLUMNS = (
    "what grows",
    "triples in a window",
    "brokers",
    "system",
    "variant",
    "wall [s]",
    "processor [s]",
    "processor ÷ as written",
)


def run(context: ExperimentContext) -> Result:
    most = context.size(100_000, 20_000)
    sizes = [("window", most // part, most // 20) for part in PARTS]
    sizes += [("data set", most // 2, most // part) for part in PARTS]
    systems = context.systems()
    rows: list[tuple[Cell, ...]] = []
    points: dict[tuple[str, str, str], list[Point]] = {}
    gains: dict[str, list[float]] = {}
    for system in systems[:1] if context.is_quick else systems:
        for what, window, brokers in sizes:
            context.say(f"{what}: {window:,} triples in a window, {brokers:,} brokers, {system.name}")
            times = _measured(context, system, window, brokers)
            for variant, (wall, processor) in times.items():
                ratio = processor / times[WRITTEN][1]
                rows.append((what, window, brokers, system.name, variant, wall, processor, ratio))
                place = window if what == "window" else brokers
                points.setdefault((system.name, what, variant), []).append((place, processor))
            gains.setdefault(system.name, []).append(times[WRITTEN][1] / times[BOTH][1])
    remarks = [
        f"{name}: the optimizer's query takes between {1 / max(gain):.2f} and {1 / min(gain):.2f} times the processor "
        f"time of the query as it is written."
        for name, gain in gains.items()
    ]
    return Result(
        (Table("Figure 7: with and without pushing filters", COLUMNS, tuple(rows)),),
        tuple(_figure(name, points) for name in gains),
        (*remarks, *context.remarks),
    )


def _measured(
    context: ExperimentContext, system: Penstock, window: int, brokers: int
) -> dict[str, tuple[float, float]]:
    stream = write_market(context.folder, DAYS, window // 2, brokers)
    inputs = DataFiles({MARKET: stream}, {BROKERS: write_brokers(context.folder, brokers)})
    texts = {variant: (text, {"optimize": is_optimized}) for variant, (text, is_optimized) in VARIANTS.items()}
    answers = {variant: system.answer(text, inputs, **settings) for variant, (text, settings) in texts.items()}
    for variant, answer in answers.items():
        compare(variant, answer, answers[WRITTEN])
    ways = {variant: partial(system.run, text, inputs, **settings) for variant, (text, settings) in texts.items()}
    return {who: (taken.wall, taken.processor) for who, taken in context.measure(ways, context.repeats(3, 2)).items()}


def _figure(system: str, points: dict[tuple[str, str, str], list[Point]]) -> Figure:
    axes = {"window": "triples in a window", "data set": "brokers in the static graph"}
    panels = tuple(
        Panel(
            f"growing {what}",
            Axis(label, is_logarithmic=True),
            Axis("processor time [s]"),
            tuple(Series(variant, tuple(points[system, what, variant])) for variant in VARIANTS),
        )
        for what, label in axes.items()
    )
    name = system.rpartition(" ")[2].lower()
    return Figure(
        f"csparql-figure-7-{name}", f"C-SPARQL Figure 7, {system}: time with and without pushing filters", panels
    )
