"""A growing folder of files, one file per micro-batch: by a hand-written job and by Penstock.

CQELS's queries over detections run on Penstock alone: at each detection, so some thousand evaluations a micro-batch.

Both are one Structured Streaming query with `foreachBatch`. The hand-written job writes each micro-batch as a Parquet
segment and observes its last timestamp (`observe`). Then it answers the windows that the batch closes, from the
segments that they reach back to. Segments and answers are named after the batch, so that a batch that is repeated after
a crash overwrites its own output.
"""

from __future__ import annotations

import os
import shutil
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

from penstock import parse
from penstock.algebra import build
from penstock.bench.cqels.data import FLOORPLAN, RFID, detections, write_floorplan, write_publications
from penstock.bench.cqels.queries import TEMPLATES, Instance
from penstock.bench.systems import DataFiles
from penstock.bench.tollgates.data import stream_lines
from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.results import from_json_line
from penstock.runtime.outlets import Outlet
from penstock.runtime.queries import QuerySpec
from penstock.runtime.ways import RunRequest, open_run
from penstock.sinks.opening import Sink, open_sink
from penstock.sources.graph_files import open_graph
from penstock.sources.spark.live import GrowingFolder
from tollgate_spark.answers import Solutions, solutions_of, written_answer
from tollgate_spark.jobs import Windows, read_districts, read_triples
from tollgate_spark.workloads import Workload

_SCHEMA = "s STRING, p STRING, o STRING, ts BIGINT"


@dataclass(frozen=True, slots=True)
class Figures:
    """The measured micro-batches: milliseconds for each, and the average number of Spark jobs."""

    milliseconds: tuple[int, ...]
    jobs: float
    parts: Mapping[str, float]
    """The medians of the parts of a micro-batch, as Spark reports them; `addBatch` is the job or Penstock itself."""

    @property
    def median(self) -> float:
        return statistics.median(self.milliseconds)

    def percentile(self, place: int) -> float:
        return statistics.quantiles(self.milliseconds, n=100, method="inclusive")[place - 1]


def write_passages(folder: Path, kind: str, files: int, lines_per_file: int) -> Path:
    return _write_folder(
        folder / f"{kind}-{files}x{lines_per_file}", partial(stream_lines, kind), files, lines_per_file
    )


def write_detections(folder: Path, files: int, lines_per_file: int) -> Path:
    return _write_folder(folder / f"rfid-{files}x{lines_per_file}", _detection_lines, files, lines_per_file)


def _detection_lines(count: int) -> Iterator[str]:
    return (f'{s} {p} {o} "{ts}" .\n' for s, p, o, ts in detections(count))


def _write_folder(path: Path, lines_of: Callable[[int], Iterator[str]], files: int, lines_per_file: int) -> Path:
    """The files in order, one micro-batch each: Spark reads the oldest one first.

    One more line closes the windows that end with the last file.
    """
    if path.exists():
        return path
    path.mkdir()
    lines = lines_of(files * lines_per_file + 1)
    for number in range(files):
        file = path / f"{number:05}.tnt"
        file.write_text("".join(islice(lines, lines_per_file + (number == files - 1))))
        os.utime(file, (number + 1, number + 1))
    return path


@dataclass(slots=True)
class ByHand:
    """A workload over micro-batches; `work` is where segments and answers go."""

    workload: Workload
    graph: Path
    work: Path
    answered: int = 0
    """The last closing instant that has been answered."""
    districts: DataFrame | None = None
    segments: dict[int, int] = field(default_factory=dict)
    """The last timestamp of each batch that later windows may need."""

    def process(self, batch: DataFrame, number: int) -> None:
        observation = Observation()
        triples = read_triples(batch).observe(observation, F.max("ts").alias("last"))
        triples.write.mode("overwrite").parquet(str(self._segment(number)))
        last = observation.get["last"]
        self.segments[number] = last
        # An instant is answered once something later has come.
        until = (last - 1) // self.workload.step * self.workload.step
        if until > self.answered:
            self._answer(batch.sparkSession, number, until)
            self.answered = until
            self._forget()

    def _answer(self, spark: SparkSession, number: int, until: int) -> None:
        if self.districts is None:
            self.districts = read_districts(spark, self.graph)
        windows = Windows(self.workload.width, self.workload.step, self.answered, until)
        kept = spark.read.schema(_SCHEMA).parquet(*(str(self._segment(kept)) for kept in self.segments))
        answer = self.workload.job(kept, self.districts, windows).select("time", *self.workload.variables)
        answer.write.mode("overwrite").parquet(str(self.work / "answers" / str(number)))

    def _forget(self) -> None:
        """Drops what neither the next windows nor the last ones, with which they may be compared, reach back to."""
        for number, last in list(self.segments.items()):
            if last <= self.answered - self.workload.width:
                del self.segments[number]
                shutil.rmtree(self._segment(number))

    def _segment(self, number: int) -> Path:
        return self.work / "segments" / str(number)

    def answers(self) -> list[Path]:
        return sorted((self.work / "answers").iterdir())


def run_by_hand(
    spark: SparkSession, workload: Workload, folder: Path, graph: Path, work: Path, warm_up: int
) -> tuple[Solutions, Figures]:
    """Runs until the folder has been read. The answers are Parquet files, a folder for each batch."""
    shutil.rmtree(work, ignore_errors=True)
    job = ByHand(workload, graph, work)
    lines = spark.readStream.option("maxFilesPerTrigger", 1).text(str(folder))
    writer = lines.writeStream.foreachBatch(job.process).option("checkpointLocation", str(work / "checkpoint"))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    return written_answer(spark, workload, job.answers()), _figures(spark, query, warm_up)


def run_penstock(
    spark: SparkSession, workload: Workload, folder: Path, graph: Path, work: Path, warm_up: int
) -> tuple[Solutions, Figures]:
    return run_text(spark, workload.text, DataFiles({workload.stream: folder}, {None: graph}), work, warm_up)


def run_text(
    spark: SparkSession, text: str, inputs: DataFiles, work: Path, warm_up: int
) -> tuple[Solutions, Figures]:  # fmt: skip
    """The same with a checkpoint, the answers as JSON lines: what `penstock run` does."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    query = parse(text)
    with open_sink(work / "answers.jsonl", "jsonl", build(query).form) as sink:
        request = RunRequest(
            [QuerySpec(query, "q")],
            {iri: GrowingFolder(folder, "stream", files_per_batch=1) for iri, folder in inputs.streams.items()},
            {iri: open_graph(graph, scope="graph") for iri, graph in inputs.graphs.items()},
            outlets={"q": _SinkOutlet(sink)},
            checkpoint=work / "checkpoint",
            is_bounded=True,
        )
        run = open_run(request, spark)
        run.start()
        (streaming,) = spark.streams.active
        run.wait()
        figures = _figures(spark, streaming, warm_up)
        run.stop()
    with (work / "answers.jsonl").open() as lines:
        return solutions_of(map(from_json_line, lines)), figures


CONFERENCE = {name: Instance(name, 0).text for name in TEMPLATES}
"""CQELS's queries, about the visitor with the most papers."""

STATIC_TRIPLES = 100_000


def conference(folder: Path, files: int, lines_per_file: int) -> DataFiles:
    graphs = {None: write_publications(folder, STATIC_TRIPLES), FLOORPLAN: write_floorplan(folder)}
    return DataFiles({RFID: write_detections(folder, files, lines_per_file)}, graphs)


@dataclass(frozen=True, slots=True)
class _SinkOutlet(Outlet):
    """Writes the answers of one query."""

    sink: Sink

    def write(self, batch: ResultBatch, which: range) -> None:
        self.sink.write(batch, which)

    def finish(self, number: int) -> None:
        self.sink.flush()


def _figures(spark: SparkSession, query: StreamingQuery, warm_up: int) -> Figures:
    """Of a query that has ended, without the time of its first micro-batches."""
    batches = [progress.durationMs for progress in query.recentProgress if progress.numInputRows]
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(str(query.runId))
    measured = batches[warm_up:]
    names = [name for name in measured[0] if name != _WHOLE]
    parts = {name: statistics.median(batch.get(name, 0) for batch in measured) for name in names}
    return Figures(tuple(batch[_WHOLE] for batch in measured), len(jobs) / len(batches), parts)


_WHOLE = "triggerExecution"
