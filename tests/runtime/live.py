"""Cases as live streams: their elements written as files, some at a time, into folders that Spark follows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyoxigraph import Literal, NamedNode
from tests import cases
from tests.bounded import graphs_of

from penstock.algebra.chaining import registered_name
from penstock.rdf.elements import Element
from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.results import Evaluation
from penstock.runtime.micro_batches import StreamedRun
from penstock.runtime.outlets import Callback, Outlet
from penstock.runtime.queries import QuerySpec
from penstock.runtime.query_groups import members_of
from penstock.runtime.settings import RunSettings, Windows
from penstock.runtime.ways import RunRequest, open_run
from penstock.sources.graphs import Graph
from penstock.sources.spark.live import GrowingFolder, LiveStream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class ListOutlet(Outlet):
    """Evaluations in a list, which is cut as a file would be."""

    evaluations: list[Evaluation]

    def resume(self, written: int | None) -> None:
        del self.evaluations[written or 0 :]

    def write(self, batch: ResultBatch, which: range) -> None:
        self.evaluations.extend(batch.evaluations(which))

    def position(self) -> int:
        return len(self.evaluations)


def micro_batches(
    spark: SparkSession,
    queries: Sequence[tuple[QuerySpec, Outlet]],
    streams: Mapping[str, LiveStream],
    graphs: Mapping[str | None, Graph] | None = None,
    settings: RunSettings | None = None,
    **others: Any,
) -> StreamedRun:
    """Queries over streams that Spark streams, each with its outlet."""
    specs = [spec for spec, _ in queries]
    outlets = dict(zip(members_of(specs), (outlet for _, outlet in queries), strict=True))
    request = RunRequest(specs, streams, graphs or {}, settings or RunSettings(), outlets, **others)
    run = open_run(request, spark)
    assert isinstance(run, StreamedRun)
    return run


def run_live(
    spark: SparkSession, case: cases.Case, folder: Path, batches: int = 2, windows: Windows = "auto"
) -> list[Evaluation]:
    """The answer to a case whose streams come in so many micro-batches, and then end."""
    found: list[Evaluation] = []
    run = micro_batches(
        spark,
        [(QuerySpec(case.query, registered_name(case.query) or "q", case.settings), Callback(found.append))],
        folders_of(case, folder, batches),
        graphs_of(case.inputs),
        RunSettings(lateness=case.inputs.lateness, flush=case.flush, has_empty=True, windows=windows),
        is_bounded=True,
    )
    for call, answers in case.inputs.services.items():
        run.run.store.load_answers(call, answers)
    run_to_the_end(run)
    return found


def run_to_the_end(run: StreamedRun) -> None:
    """All that is there is read and answered."""
    run.start()
    try:
        assert run.wait(300)
    finally:
        run.stop()


def folders_of(case: cases.Case, folder: Path, batches: int) -> dict[str, GrowingFolder]:
    """The streams of a case as folders, of which Spark takes a file at a time."""
    streams = {}
    for number, (iri, elements) in enumerate(case.inputs.streams.items(), 1):
        write_folder(folder / str(number), elements, batches)
        streams[iri] = GrowingFolder(folder / str(number), f"s{number}", files_per_batch=1)
    return streams


def write_folder(folder: Path, elements: Sequence[Element], files: int) -> None:
    """The elements in so many files, each of which Spark takes for later than the one before."""
    folder.mkdir(parents=True)
    per_file = -(-len(elements) // files) or 1
    for number, start in enumerate(range(0, len(elements), per_file), 1):
        part = elements[start : start + per_file]
        line, suffix = _format(part)
        file = folder / f"{number}{suffix}"
        file.write_text("".join(line(element, place) for place, element in enumerate(part)), encoding="utf-8")
        os.utime(file, (number, number))


def _format(elements: Sequence[Element]) -> tuple[Callable[[Element, int], str], str]:
    """Graphs with names are documents each: in TriG those of one name would be one graph."""
    if any(element.graph is not None for element in elements):
        return _document, ".ndjson"
    return (_line, ".tnt") if all(len(element.triples) == 1 for element in elements) else (_graph, ".trig")


def _document(element: Element, place: int) -> str:
    nodes = [{"@id": _id(t.subject), t.predicate.value: [_value(t.object)]} for t in element.triples]
    name = {} if element.graph is None else {"@id": _id(element.graph)}
    return json.dumps({**name, "http://www.w3.org/ns/prov#generatedAtTime": element.time, "@graph": nodes}) + "\n"


def _id(node: object) -> str:
    return node.value if isinstance(node, NamedNode) else str(node)


def _value(term: object) -> dict[str, str]:
    if not isinstance(term, Literal):
        return {"@id": _id(term)}
    language = {"@language": term.language} if term.language else {"@type": term.datatype.value}
    return {"@value": term.value, **language}


def _line(element: Element, place: int) -> str:
    return f'{element.triples[0]} "{element.time}" .\n'


def _graph(element: Element, place: int) -> str:
    triples = " ".join(f"{triple} ." for triple in element.triples)
    name = f"<http://ex.org/graphs/{place}>"
    return f'{name} <http://www.w3.org/ns/prov#generatedAtTime> "{element.time}" .\n{name} {{ {triples} }}\n'
