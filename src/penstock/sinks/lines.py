"""Evaluations as text that programs read: JSON lines, SPARQL 1.1 CSV and TSV, N-Quads, TriG, timestamped N-Triples."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol
from urllib.parse import quote as percent_encoded

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from penstock.rdf.elements import Node
from penstock.rdf.instants import FIRST_DATE, instant_text
from penstock.rdf.results import Evaluation, to_json_line
from penstock.rdf.stream_reader import GENERATED_AT_TIME
from penstock.rdf.vocabulary import XSD
from penstock.sinks.shortening import Shortening

_NEEDS_QUOTES = re.compile(r'[",\r\n]')
_FORMULA = re.compile(r"\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|[\t\r\n]")
"""How a cell begins that spreadsheets compute; the wide forms of the signs count, too."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_DATED = NamedNode(GENERATED_AT_TIME)


class Writer(Protocol):
    """A format: what stands before all evaluations, and the text of each."""

    def beginning(self, variables: tuple[str, ...]) -> str:
        """What the output begins with, given the variables of a SELECT query, also where it has no evaluation."""

    def text(self, evaluation: Evaluation) -> str: ...


class JsonLines:
    """One line an evaluation (contract.md, "Result lines")."""

    def beginning(self, variables: tuple[str, ...]) -> str:
        return ""

    def text(self, evaluation: Evaluation) -> str:
        return to_json_line(evaluation) + "\n"


class Csv:
    """SPARQL 1.1 CSV, a row a solution, with the instant before it: values only, whatever their datatypes.

    `is_safe`: what a spreadsheet would take for a formula has an apostrophe before it.
    """

    def __init__(self, *, is_safe: bool = False) -> None:
        self._is_safe = is_safe

    def beginning(self, variables: tuple[str, ...]) -> str:
        return ",".join(map(_field, (time_column(variables), *variables))) + "\r\n"

    def text(self, evaluation: Evaluation) -> str:
        time = str(evaluation.time)
        value = _safe_value if self._is_safe else _value
        return "".join(",".join((time, *map(value, row))) + "\r\n" for row in evaluation.rows or ())


class Tsv:
    """SPARQL 1.1 TSV, a row a solution, with the instant before it: terms in full."""

    def beginning(self, variables: tuple[str, ...]) -> str:
        return "\t".join(f"?{name}" for name in (time_column(variables), *variables)) + "\n"

    def text(self, evaluation: Evaluation) -> str:
        time = str(evaluation.time)
        rows = evaluation.rows or ()
        return "".join("\t".join((time, *("" if t is None else str(t) for t in row))) + "\n" for row in rows)


class TimedTriples:
    """`.tnt`: a line a triple, stamped with the instant."""

    def beginning(self, variables: tuple[str, ...]) -> str:
        return ""

    def text(self, evaluation: Evaluation) -> str:
        return "".join(f'{triple} "{evaluation.time}" .\n' for triple in evaluation.triples or ())


class NQuads:
    """Each evaluation a named graph, dated in the default graph, so that it can be read as a stream."""

    def beginning(self, variables: tuple[str, ...]) -> str:
        return ""

    def text(self, evaluation: Evaluation) -> str:
        graph = graph_of(evaluation)
        quads = "".join(f"{triple} {graph} .\n" for triple in evaluation.triples or ())
        return f"{graph} {_DATED} {_timestamp(evaluation.time)} .\n{quads}"


class TriG:
    """The same in TriG, with the prefixes of the query."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._prefixes = prefixes
        self._shortening = Shortening(prefixes)

    def beginning(self, variables: tuple[str, ...]) -> str:
        return "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in self._prefixes.items())

    def text(self, evaluation: Evaluation) -> str:
        term = self._shortening.term
        graph = term(graph_of(evaluation))
        lines = [f"  {self._triple(triple)} .\n" for triple in evaluation.triples or ()]
        return f"\n{graph} {term(_DATED)} {term(_timestamp(evaluation.time))} .\n{graph} {{\n{''.join(lines)}}}\n"

    def _triple(self, triple: Triple | Quad) -> str:
        return " ".join(map(self._shortening.term, (triple.subject, triple.predicate, triple.object)))


def time_column(variables: tuple[str, ...]) -> str:
    """`time`, or a name like it that no variable of the query has."""
    name = "time"
    while name in variables:
        name = f"_{name}"
    return name


def graph_of(evaluation: Evaluation) -> NamedNode:
    """The name of an evaluation's graph: by query and instant, of which there is one evaluation."""
    return NamedNode(f"urn:penstock:{percent_encoded(evaluation.query, safe='')}:{evaluation.time}")


def _timestamp(time: int) -> Literal:
    text = instant_text(time)
    return Literal(text, datatype=NamedNode(XSD + ("dateTime" if time >= FIRST_DATE and "T" in text else "integer")))


def _value(term: Node | None) -> str:
    if term is None:
        return ""
    return str(term) if isinstance(term, BlankNode) else _field(term.value)


def _safe_value(term: Node | None) -> str:
    """A number is none that begins with a sign; anything else behind a sign may be a formula."""
    if term is None or isinstance(term, BlankNode) or not _FORMULA.match(term.value) or _NUMBER.fullmatch(term.value):
        return _value(term)
    return _field(f"'{term.value}")


def _field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text
