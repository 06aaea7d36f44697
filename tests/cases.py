"""Query cases as data: a folder each, which any engine can be asked to answer. A new case needs no code.

    query.rq         the query; the comment at its top tells what the case shows
    *.tnt *.trig …   a stream each, named by its file: `gates.tnt` is <http://ex.org/gates>
    *.ttl            a static graph each, named likewise; `graph.ttl` is the default graph
    *.changes        a graph that changes (lines `A <s> <p> <o> "TS" .` and `D …`), named likewise
    endpoints/*.ttl  what a SPARQL endpoint holds, named likewise: one that is not there fails
    expected.jsonl   the answer, as result lines (contract.md), worked out by hand
    case.toml        where there is more to say

All of `case.toml` is optional. Its paths are relative to the folder.

    title, source    what the case shows, and where it is from, if not in the query
    query, dialect   a listing elsewhere; `auto`
    prefixes         a JSON file of prefixes that the query does not declare
    compare_empty    evaluations without solutions are in `expected.jsonl` too
    rspql_differs    why the query, translated to RSP-QL, is known not to give it
    [options]        t0, flush, report, operator, duplicates, lateness: as on the command line
    [placeholders]   texts to replace in the query, such as "$Name$"
    [streams]        IRI = file, instead of the files of the folder; likewise
    [graphs]         "default" or IRI = file
    [changes]        "default" or IRI = file
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pyoxigraph import RdfFormat, Store

import penstock
from penstock.algebra import Settings, build
from penstock.algebra.inputs import GraphTriple, Inputs
from penstock.algebra.services import ServiceAnswer, ServiceCall, service_calls
from penstock.algebra.windows import Interval
from penstock.oracle.judging import first_difference, is_ordered
from penstock.rdf.changes import read_changes, validity
from penstock.rdf.elements import Malformed
from penstock.rdf.graphs import read_graph
from penstock.rdf.instants import parse_instant
from penstock.rdf.results import Evaluation, from_json_line
from penstock.rdf.stream_reader import read_stream
from penstock.syntax import ast
from penstock.syntax.durations import parse_duration
from penstock.syntax.parser.reports import parse_report

NAMES = "http://ex.org/"
DEFAULT_GRAPH = "default"

_ENDINGS = {"streams": ("tnt", "trig", "nq", "jsonld", "ndjson"), "graphs": ("ttl",), "changes": ("changes",)}
_KNOWN = {"title", "source", "query", "dialect", "prefixes", "compare_empty", "rspql_differs"}
_KNOWN_TABLES = {"options", "placeholders", *_ENDINGS}
_KNOWN_OPTIONS = {"t0", "flush", "report", "operator", "duplicates", "lateness"}


@dataclass(frozen=True)
class Case:
    """One query with its data and its answer."""

    folder: Path
    title: str
    query: ast.Query
    inputs: Inputs
    settings: Settings
    flush: bool
    expected: tuple[Evaluation, ...]
    compare_empty: bool
    rspql_differs: str


def case_folders(root: Path) -> list[Path]:
    return sorted(path.parent for path in root.glob("*/expected.jsonl"))


def read_case(folder: Path) -> Case:
    described = folder / "case.toml"
    said = tomllib.loads(described.read_text(encoding="utf-8")) if described.exists() else {}
    options = said.get("options", {})
    unknown = (said.keys() - _KNOWN - _KNOWN_TABLES) | (options.keys() - _KNOWN_OPTIONS)
    assert not unknown, f"{folder.name}/case.toml says {', '.join(sorted(unknown))}, which nothing reads"
    text = _text(folder, said)
    title = said.get("title") or _comment(text)
    assert title, f"{folder.name} does not say what it shows: begin its query with a comment"
    prefixes = json.loads((folder / said["prefixes"]).read_text(encoding="utf-8")) if "prefixes" in said else {}
    query = penstock.parse(text, said.get("dialect", "auto"), prefixes=prefixes)
    calls = service_calls(build(query).text)
    return Case(
        folder=folder,
        title=title,
        query=query,
        inputs=replace(_inputs(folder, said, options), services={call: [_answer(folder, call)] for call in calls}),
        settings=_settings(options),
        flush=options.get("flush", False),
        expected=_expected(folder),
        compare_empty=said.get("compare_empty", False),
        rspql_differs=said.get("rspql_differs", ""),
    )


def _text(folder: Path, said: Mapping[str, Any]) -> str:
    text = (folder / said.get("query", "query.rq")).read_text(encoding="utf-8")
    for placeholder, replacement in said.get("placeholders", {}).items():
        assert placeholder in text, f"{folder.name}: the query has no {placeholder}"
        text = text.replace(placeholder, replacement)
    return text


def _comment(text: str) -> str:
    """The first line of a query, if it is a comment."""
    first = text.partition("\n")[0]
    return first.lstrip("# ") if first.startswith("#") else ""


# The data


def _inputs(folder: Path, said: Mapping[str, Any], options: Mapping[str, Any]) -> Inputs:
    files = {kind: said.get(kind) or {} for kind in _ENDINGS}
    if not any(files.values()):
        files = {kind: _files(folder, kind) for kind in _ENDINGS}
    streams = {
        iri: list(read_stream(folder / file, scope=iri, on_malformed=_refuse)) for iri, file in files["streams"].items()
    }
    graphs = {
        _graph_name(iri): [GraphTriple(triple) for triple in read_graph(folder / file, scope=iri)]
        for iri, file in files["graphs"].items()
    }
    for iri, file in files["changes"].items():
        held = validity(read_changes(folder / file, scope=iri))
        changing = [GraphTriple(triple, Interval(start, end)) for triple, start, end in held]
        graphs[_graph_name(iri)] = [*graphs.get(_graph_name(iri), ()), *changing]
    return Inputs(streams, graphs, lateness=_milliseconds(options.get("lateness", "0 ms")))


def _files(folder: Path, kind: str) -> dict[str, str]:
    """The files of the folder that are of this kind, each named by its own name."""
    found = sorted(path for ending in _ENDINGS[kind] for path in folder.glob(f"*.{ending}"))
    return {DEFAULT_GRAPH if path.stem == "graph" else NAMES + path.stem: path.name for path in found}


def _answer(folder: Path, call: ServiceCall) -> ServiceAnswer:
    file = folder / "endpoints" / f"{call.endpoint.removeprefix(NAMES)}.ttl"
    if not file.exists():
        assert call.is_silent, f"{folder.name}: there is no {file.name}, and the query does not ask silently"
        return ServiceAnswer(((None,) * len(call.variables),))
    store = Store()
    store.load(path=file, format=RdfFormat.TURTLE)
    rows = tuple(tuple(solution[name] for name in call.columns) for solution in store.query(call.query))
    return ServiceAnswer(rows)


def _graph_name(iri: str) -> str | None:
    return None if iri == DEFAULT_GRAPH else iri


def _refuse(malformed: Malformed) -> None:
    raise AssertionError(f"{malformed.place}: {malformed.reason}")


# The options


def _settings(options: Mapping[str, Any]) -> Settings:
    return Settings(
        report=parse_report(options["report"]) if "report" in options else None,
        operator=options.get("operator"),
        duplicates=options.get("duplicates"),
        origin=_origin(options.get("t0", 0)),
    )


def _origin(t0: int | str) -> int | Literal["first"]:
    if isinstance(t0, int):
        return t0
    if t0 == "first":
        return "first"
    instant = parse_instant(t0)
    assert instant is not None, f"{t0} is no instant"
    return instant


def _milliseconds(duration: str) -> int:
    length = parse_duration(duration)
    assert length is not None, f"{duration} is no duration"
    return length


# The answer (semantics.md §9)


def _expected(folder: Path) -> tuple[Evaluation, ...]:
    lines = (folder / "expected.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(from_json_line(line) for line in lines if line)


def check(case: Case, answer: Iterable[Evaluation]) -> None:
    """The answer is the expected one: the same instants, and at each the same solutions."""
    found = [evaluation for evaluation in answer if case.compare_empty or evaluation.says_something]
    difference = first_difference(found, case.expected, is_ordered(case.query))
    assert difference is None, difference.text
    for one, other in zip(found, case.expected, strict=True):
        assert one.query == other.query
        assert one.variables == other.variables
