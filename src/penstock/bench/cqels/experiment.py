"""Le-Phuoc, Dao-Tran, Parreira and Hauswirth (2011), Table 2, Figures 4 and 5: Q1 to Q5 over a conference.

The queries are those of the paper. The data is generated: detections of RFID tags, a floor plan of 172 triples, and
publications following the profile of SP²Bench.

one by one: as in the paper. Each detection arrives after the previous one has been answered. The clock runs from its
arrival to the answer, without registration and loading. The result is the mean over all detections and over several
authors (`$Name$`). pyoxigraph uses a store with the static data and a graph for each window: detections are added and
removed, the query is evaluated, and earlier solutions are dropped (ISTREAM). Its windows are sets, those of CQELS are
bags: answers are compared with `--duplicates set`, and times are measured with the default of the dialect.

history: the detections are a file, and each is evaluated. Penstock's time includes registration and loading; answers
stay in columns. `penstock run` is the command on DuckDB: its time includes the start of the process and the file of
result lines. pyoxigraph does the same as one by one, over the first detections; its loading does not count. Systems are
compared by detections per second.

many queries (Figure 5): 1 to 1,024 copies of Q1, Q3 and Q4 about different authors, over a file of detections. The
result is the wall time of all copies registered with one engine, which fuses them, including loading; for up to 16
copies also the time of separate runs, one after another. pyoxigraph evaluates all copies on one store at each detection
(with --quick up to 16).

Table 2 uses 100,000 triples of publications, with --quick 10,000. Figure 4 uses 10,000, 100,000 and 1,000,000 triples,
with --quick 10,000 and 100,000; --scale 10 makes them ten times as many.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from penstock.bench.answers import compare
from penstock.bench.context import ExperimentContext
from penstock.bench.cqels.arrivals import penstock_times, pyoxigraph_times
from penstock.bench.cqels.data import (
    FLOORPLAN,
    RFID,
    write_detections,
    write_floorplan,
    write_publications,
)
from penstock.bench.cqels.many_queries import COLUMNS, many_queries
from penstock.bench.cqels.queries import TEMPLATES, Instance
from penstock.bench.results import Axis, Cell, Figure, Panel, Result, Series, Table, faster_ones, times_as_long
from penstock.bench.systems import DUCKDB, DataFiles, run_command

OXIGRAPH = "pyoxigraph"
AUTHORS = (0, 2, 9, 7, 6, 14, 19, 4, 13, 3)
"""The visitors with the most papers."""

WITH_PUBLICATIONS = ("Q1", "Q3", "Q4", "Q5")
ONE_BY_ONE = ("query", "system", "detections", "mean [ms]", "p95 [ms]", "time ÷ Penstock's", "beside Penstock")
HISTORY = ("query", "system", "detections", "wall [s]", "detections/s", "time ÷ Penstock's", "beside Penstock")
COMMAND = "penstock run"
FEW = 10_000
"""The number of detections that pyoxigraph answers: at some milliseconds each, they are enough to measure it."""
SIZES = ("static triples", *ONE_BY_ONE)


@dataclass(frozen=True, slots=True)
class Conference:
    """The static data of an experiment."""

    publications: Path
    floorplan: Path
    detections: int

    def times(self, query: Instance) -> dict[str, list[float]]:
        """Milliseconds for each detection by system; all answers are equal."""
        given = (query, self.publications, self.floorplan, self.detections)
        peer = pyoxigraph_times(*given)
        compare(OXIGRAPH, peer.answer, penstock_times(*given, duplicates="set").answer)
        return {DUCKDB: penstock_times(*given), OXIGRAPH: peer}

    def history(self, stream: Path) -> DataFiles:
        return DataFiles({RFID: stream}, {None: self.publications, FLOORPLAN: self.floorplan})


def run(context: ExperimentContext) -> Result:
    singles, ratios = _single_queries(context)
    sizes, growth = _growing_data(context)
    history, history_ratios = _history(context)
    many, together = many_queries(context)
    return Result(
        (
            Table("Table 2: one detection at a time", ONE_BY_ONE, tuple(singles)),
            Table("Table 2: the detections as a history", HISTORY, tuple(history)),
            Table("Figure 4: growing static data, one detection at a time", SIZES, tuple(sizes)),
            Table("Figure 5: copies of a query about different authors", COLUMNS, tuple(many)),
        ),
        (_figure_of_singles(singles, history), growth, together),
        (
            faster_ones(ratios, f"{DUCKDB}, one detection at a time"),
            faster_ones(history_ratios, f"{history[0][1]} over a history"),
            *context.remarks,
        ),
    )


def _conference(context: ExperimentContext, triples: int, detections: int) -> Conference:
    return Conference(write_publications(context.folder, triples), write_floorplan(context.folder), detections)


def _lines(times: dict[str, list[float]]) -> list[tuple[Cell, ...]]:
    own = statistics.fmean(times[DUCKDB])
    lines: list[tuple[Cell, ...]] = []
    for who, taken in times.items():
        mean = statistics.fmean(taken)
        late = statistics.quantiles(taken, n=20, method="inclusive")[18]
        words = "" if who == DUCKDB else times_as_long(mean / own)
        lines.append((who, len(taken), mean, late, mean / own, words))
    return lines


def _single_queries(context: ExperimentContext) -> tuple[list[tuple[Cell, ...]], list[tuple[str, float]]]:
    conference = _conference(context, context.size(100_000, 10_000), context.size(200, 60))
    authors = AUTHORS[: 5 if not context.is_quick else 1]
    rows: list[tuple[Cell, ...]] = []
    ratios: list[tuple[str, float]] = []
    for template in TEMPLATES:
        context.say(f"{template}, one detection at a time")
        times: dict[str, list[float]] = {}
        for author in authors if template in WITH_PUBLICATIONS else authors[:1]:
            for who, taken in conference.times(Instance(template, author)).items():
                times.setdefault(who, []).extend(taken)
        rows += [(template, *line) for line in _lines(times)]
        ratios.append(
            (f"{OXIGRAPH} at {template}", statistics.fmean(times[OXIGRAPH]) / statistics.fmean(times[DUCKDB]))
        )
    return rows, ratios


def _history(context: ExperimentContext) -> tuple[list[tuple[Cell, ...]], list[tuple[str, float]]]:
    count = context.size(300_000, 20_000)
    few = min(count, context.size(FEW, FEW // 5))
    conference = _conference(context, context.size(100_000, 10_000), count)
    stream = write_detections(context.folder, count)
    inputs = conference.history(stream)
    systems = context.systems()
    rows: list[tuple[Cell, ...]] = []
    ratios: list[tuple[str, float]] = []
    for template in TEMPLATES:
        context.say(f"{template}, history")
        query = Instance(template, AUTHORS[0])
        ways: dict[str, Callable[[], object]] = {
            system.name: partial(system.answer_in_columns, query.text, inputs) for system in systems
        }
        if "duckdb" in context.engines:
            ways[COMMAND] = partial(_command, context.folder, query, conference, stream)
        each = {who: taken.wall / count for who, taken in context.measure(ways, context.repeats(2, 1)).items()}
        context.say(f"timing {OXIGRAPH}")
        milliseconds = pyoxigraph_times(query, conference.publications, conference.floorplan, few)
        each[OXIGRAPH] = statistics.fmean(milliseconds) / 1000
        own = systems[0].name
        for who, seconds in each.items():
            ratio, detections = seconds / each[own], few if who == OXIGRAPH else count
            words = "" if who == own else times_as_long(ratio)
            rows.append((template, who, detections, seconds * detections, round(1 / seconds), ratio, words))
        ratios.append((f"{OXIGRAPH} at {template}", each[OXIGRAPH] / each[own]))
    return rows, ratios


def _command(folder: Path, query: Instance, conference: Conference, stream: Path) -> None:
    text, out = folder / "query.rq", folder / "answers.jsonl"
    text.write_text(query.text)
    graphs = ["--graph", str(conference.publications), "--graph", f"{FLOORPLAN}={conference.floorplan}"]
    asked = [str(text), "--dialect", "cqels", "--engine", "duckdb", "--stream", f"{RFID}={stream}", *graphs]
    run_command([*asked, "--out", str(out)])


def _growing_data(context: ExperimentContext) -> tuple[list[tuple[Cell, ...]], Figure]:
    largest = context.size(1_000_000, 100_000)
    sizes = [size for size in (10_000, 100_000, 1_000_000, 10_000_000) if size <= largest]
    rows: list[tuple[Cell, ...]] = []
    points: dict[tuple[str, str], list[tuple[float | str, float]]] = {}
    for size in sizes or [largest]:
        conference = _conference(context, size, context.size(100, 40))
        for template in WITH_PUBLICATIONS:
            context.say(f"{template}, {size:,} static triples")
            times = conference.times(Instance(template, AUTHORS[0]))
            rows += [(size, template, *line) for line in _lines(times)]
            for who, taken in times.items():
                points.setdefault((template, who), []).append((size, statistics.fmean(taken)))
    x, y = Axis("triples of publications", is_logarithmic=True), Axis("time per detection [ms]", is_logarithmic=True)
    panels = tuple(
        Panel(template, x, y, tuple(Series(who, tuple(points[template, who])) for who in (DUCKDB, OXIGRAPH)))
        for template in WITH_PUBLICATIONS
    )
    return rows, Figure("cqels-figure-4", "CQELS Figure 4: time per detection as static data grow", panels)


def _figure_of_singles(singles: list[tuple[Cell, ...]], history: list[tuple[Cell, ...]]) -> Figure:
    def bars(rows: list[tuple[Cell, ...]], column: int) -> tuple[Series, ...]:
        return tuple(
            Series(str(who), tuple((str(row[0]), float(row[column] or 0)) for row in rows if row[1] == who))
            for who in dict.fromkeys(row[1] for row in rows)
        )

    x, y = Axis("query"), Axis("time per detection [ms]", is_logarithmic=True)
    panels = (
        Panel("one detection at a time", x, y, bars(singles, 3), "bars"),
        Panel("over a history", x, Axis("detections per second", is_logarithmic=True), bars(history, 4), "bars"),
    )
    return Figure("cqels-table-2", "CQELS Table 2: time per detection, query by query", panels)
