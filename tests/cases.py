"""Query cases as data: a folder each, which any engine can be asked to answer.

    case.toml        title, source, query, dialect, prefixes, options, and which files are streams and graphs
    *.rq             the query, unless it is a listing elsewhere
    *.tnt *.ttl …    the data; *.changes for a graph that changes (lines `A <s> <p> <o> "TS" .` and `D …`)
    expected.jsonl   the answer, as result lines (contract.md), worked out by hand

In `case.toml`, paths are relative to the folder, and these are optional: `prefixes` (a JSON file of prefixes that the
query does not declare), `compare_empty` (evaluations without solutions are in `expected.jsonl` too), and the tables

    [options]        t0, flush, report, operator, duplicates, lateness: as on the command line
    [placeholders]   texts to replace in the query, such as "$Name$"
    [streams]        IRI = file
    [graphs]         "default" or IRI = file
    [changes]        "default" or IRI = file of changes
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import penstock
from penstock.algebra import Settings
from penstock.algebra.inputs import GraphTriple, Inputs
from penstock.algebra.windows import Interval
from penstock.rdf.changes import read_changes, validity
from penstock.rdf.elements import Malformed
from penstock.rdf.graphs import read_graph
from penstock.rdf.instants import parse_instant
from penstock.rdf.reading import read_stream
from penstock.rdf.results import Evaluation, from_json_line, same_graph, same_rows
from penstock.syntax import ast
from penstock.syntax.durations import parse_duration
from penstock.syntax.parser.reports import parse_report

_KNOWN = {
    "title", "source", "query", "dialect", "prefixes", "compare_empty",
    "options", "placeholders", "streams", "graphs", "changes",
}  # fmt: skip
_KNOWN_OPTIONS = {"t0", "flush", "report", "operator", "duplicates", "lateness"}


@dataclass(frozen=True)
class Case:
    """One query with its data and its answer."""

    folder: Path
    title: str
    source: str
    query: ast.Query
    inputs: Inputs
    settings: Settings
    flush: bool
    expected: tuple[Evaluation, ...]
    compare_empty: bool

    @property
    def is_ordered(self) -> bool:
        return bool(self.query.modifiers.order_by)


def case_folders(root: Path) -> list[Path]:
    return sorted(path.parent for path in root.glob("*/case.toml"))


def read_case(folder: Path) -> Case:
    said = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    options = said.get("options", {})
    unknown = (said.keys() - _KNOWN) | (options.keys() - _KNOWN_OPTIONS)
    assert not unknown, f"{folder.name}/case.toml says {', '.join(sorted(unknown))}, which nothing reads"
    return Case(
        folder=folder,
        title=said["title"],
        source=said["source"],
        query=_query(folder, said),
        inputs=_inputs(folder, said, options),
        settings=_settings(options),
        flush=options.get("flush", False),
        expected=_expected(folder),
        compare_empty=said.get("compare_empty", False),
    )


def _query(folder: Path, said: Mapping[str, Any]) -> ast.Query:
    text = (folder / said["query"]).read_text(encoding="utf-8")
    for placeholder, replacement in said.get("placeholders", {}).items():
        assert placeholder in text, f"{folder.name}: the query has no {placeholder}"
        text = text.replace(placeholder, replacement)
    prefixes = json.loads((folder / said["prefixes"]).read_text(encoding="utf-8")) if "prefixes" in said else {}
    return penstock.parse(text, said["dialect"], prefixes=prefixes)


def _inputs(folder: Path, said: Mapping[str, Any], options: Mapping[str, Any]) -> Inputs:
    streams = {
        iri: list(read_stream(folder / file, scope=iri, on_malformed=_refuse))
        for iri, file in said.get("streams", {}).items()
    }
    graphs = {
        _graph_name(iri): [GraphTriple(triple) for triple in read_graph(folder / file, scope=iri)]
        for iri, file in said.get("graphs", {}).items()
    }
    for iri, file in said.get("changes", {}).items():
        held = validity(read_changes(folder / file, scope=iri))
        changing = [GraphTriple(triple, Interval(start, end)) for triple, start, end in held]
        graphs[_graph_name(iri)] = [*graphs.get(_graph_name(iri), ()), *changing]
    return Inputs(streams, graphs, lateness=_milliseconds(options.get("lateness", "0 ms")))


def _graph_name(iri: str) -> str | None:
    return None if iri == "default" else iri


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


def _refuse(malformed: Malformed) -> None:
    raise AssertionError(f"{malformed.place}: {malformed.reason}")


def _expected(folder: Path) -> tuple[Evaluation, ...]:
    lines = (folder / "expected.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(from_json_line(line) for line in lines if line)


# Comparing (semantics.md §9)


def check(case: Case, answer: Iterable[Evaluation]) -> None:
    """The answer is the expected one: the same instants, and at each the same solutions."""
    found = [evaluation for evaluation in answer if case.compare_empty or says_something(evaluation)]
    assert [evaluation.time for evaluation in found] == [evaluation.time for evaluation in case.expected]
    for one, other in zip(found, case.expected, strict=True):
        assert one.query == other.query
        assert one.variables == other.variables
        assert one.boolean == other.boolean
        assert is_same(one, other, case.is_ordered), differences(one, other)


def says_something(evaluation: Evaluation) -> bool:
    return evaluation.boolean is not None or bool(evaluation.rows) or bool(evaluation.triples)


def is_same(one: Evaluation, other: Evaluation, ordered: bool) -> bool:
    if one.rows is not None and other.rows is not None:
        return same_rows(one.rows, other.rows, ordered=ordered)
    if one.triples is not None and other.triples is not None:
        return same_graph(one.triples, other.triples)
    return one.boolean is not None and one.boolean == other.boolean


def differences(found: Evaluation, expected: Evaluation) -> str:
    """What one has and the other has not, for the person who reads the failure."""
    has, should = (Counter(map(_shown, e.rows or e.triples or ())) for e in (found, expected))
    unexpected, missing = list((has - should).elements()), list((should - has).elements())
    return f"at {expected.time}: not expected: {unexpected}; missing: {missing}"


def _shown(item: object) -> str:
    return " ".join(str(term) for term in item) if isinstance(item, tuple) else str(item)
