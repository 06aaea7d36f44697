"""Random continuous queries over random streams and graphs, all as text: what a failure prints can be pasted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Literal

from hypothesis import strategies as st
from tests.engines.strategies_inputs import graphs, streams
from tests.engines.strategies_patterns import Patterns, Place
from tests.engines.strategies_windows import Datasets, DatasetText
from tests.oracle.asking import EX, changing, elements

import penstock
from penstock.algebra import Settings
from penstock.algebra.inputs import Inputs
from penstock.rdf.vocabulary import XSD
from penstock.syntax import ast
from penstock.syntax.parser.reports import parse_report

_NAMES = re.compile(r"(?<![\w:]):([stgh]|w\d)\b")
"""Streams, graphs and windows, as queries name them."""

DIALECTS = ("rspql", "rspql", "csparql", "cqels", "sparqlstream", "streaming-sparql", "sparql")
OPERATORS: tuple[ast.Operator, ...] = ("rstream", "istream", "dstream")


@dataclass(frozen=True)
class Scenario:
    """A query, what it reads, and what the user says from outside. The graph under "" is the unnamed one."""

    query: str
    dialect: str
    streams: Mapping[str, str]
    graphs: Mapping[str, str] = field(default_factory=dict)
    lateness: int = 0
    t0: int | Literal["first"] = 0
    report: str | None = None
    operator: ast.Operator | None = None
    duplicates: Literal["set", "bag"] | None = None
    flush: bool = False
    names: Literal["prefixed", "relative", "bare"] = "prefixed"
    """Of streams, windows and graphs: `:s`, `<s>` under BASE, or `<s>` as it is."""

    def parsed(self) -> ast.Query:
        base = EX if self.names == "relative" else None
        return penstock.parse(self.query, self.dialect, prefixes={"": EX, "xsd": XSD}, base=base)

    def inputs(self) -> Inputs:
        namespace = "" if self.names == "bare" else EX
        return Inputs(
            {namespace + name: elements(text) for name, text in self.streams.items()},
            {namespace + name if name else None: changing(text) for name, text in self.graphs.items()},
            self.lateness,
        )

    def settings(self) -> Settings:
        report = None if self.report is None else parse_report(self.report)
        return Settings(report, self.operator, self.duplicates, self.t0)

    def __repr__(self) -> str:
        """As Python, with the texts on lines of their own."""
        lines = [f"    {entry.name}={_shown(getattr(self, entry.name))}," for entry in fields(self)]
        return "\n".join(["Scenario(", *lines, ")"])


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_shown(text)}" for key, text in value.items()) + "}"
    return f"'''{value}'''" if isinstance(value, str) and "\n" in value else repr(value)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """A query of any dialect and form over two streams and three graphs.

    Under SPARQL over a stream no graph loses a triple: what is certain there rests on input that only grows.
    """
    return _scenario(draw, QueryWriter(draw), draw(st.sampled_from(DIALECTS)))


@st.composite
def scenarios_together(draw: st.DrawFn) -> tuple[Scenario, ...]:
    """Two or three queries of one dialect over the same input; most have the same windows."""
    writer = QueryWriter(draw)
    first = _scenario(draw, writer, draw(st.sampled_from(DIALECTS)))
    others = []
    for _ in range(draw(st.integers(1, 2))):
        shared = writer.chosen if writer.chance(70) else None
        other = QueryWriter(draw)
        text = _named(other.query(first.dialect, shared), first.names)
        others.append(replace(first, query=text, operator=draw(_OPERATOR), duplicates=draw(_DUPLICATES)))
    return first, *others


_OPERATOR = st.sampled_from((None, None, None, *OPERATORS))
_DUPLICATES: st.SearchStrategy[Literal["set", "bag"] | None] = st.sampled_from((None, None, None, "set", "bag"))


def _scenario(draw: st.DrawFn, writer: QueryWriter, dialect: str) -> Scenario:
    query = writer.query(dialect)
    names = draw(st.sampled_from((*["prefixed"] * 8, "relative", "bare")))
    return Scenario(
        query=_named(query, names),
        dialect=dialect,
        streams={"s": draw(streams()), "t": draw(streams())},
        graphs={name: draw(graphs(may_shrink=dialect != "sparql")) for name in ("", "g", "h")},
        lateness=draw(st.sampled_from((0, 0, 2, 5))),
        t0=draw(st.sampled_from((0, 0, 0, "first", 4, -3))),
        report=writer.policy() if writer.chance(25) else None,
        operator=draw(_OPERATOR),
        duplicates=draw(_DUPLICATES),
        flush=writer.chance(30),
        names=names,
    )


def _named(query: str, names: str) -> str:
    return query if names == "prefixed" else _NAMES.sub(r"<\1>", query)


class QueryWriter(Patterns, Datasets):
    """Writes one query."""

    chosen: DatasetText
    """What the last query reads."""

    def query(self, dialect: str, dataset: DatasetText | None = None) -> str:
        dataset = self.chosen = dataset or self.dataset(dialect)
        self.places = dataset.places
        self.group_windows = dataset.group_windows
        counts_matches = any("ELEMS" in window for window in self.group_windows)
        self.has_paths = not (counts_matches or any(place.holds_triples_alone for place in self.places))
        self.asks_for_time = dialect == "csparql" and self.chance(15)
        scope: list[str] = []
        where = self.group(scope, self.choose(1, 1, 2))
        for place in dataset.must_read:
            if place.text.split("{")[0] not in where:
                where = self._read_too(where, place, scope)
        where += self._group_window()
        return self._register(dialect) + self._form(dialect, scope, dataset.clauses, where)

    def _read_too(self, where: str, place: Place, scope: list[str]) -> str:
        """The pattern with one that reads the place. What it has within NOT EXISTS or MINUS is not seen outside."""
        within = list(scope)
        block = place.text.format(self.triples(within))
        if self.chance(30):
            return f"{where} . {self.choose('FILTER NOT EXISTS', 'MINUS')} {{ {block} }}"
        scope[:] = within
        return self.choose(
            f"{where} . OPTIONAL {{ {block} }}",
            f"{block} . OPTIONAL {{ {where} }}",
            f"{{ {where} }} UNION {{ {block} }}",
            f"{where} . {block}",
        )

    def _register(self, dialect: str) -> str:
        if dialect == "csparql" and self.chance(20):
            return f"REGISTER QUERY q COMPUTED EVERY {self.length()}ms AS "
        return ""

    def _form(self, dialect: str, scope: list[str], dataset: str, where: str) -> str:
        has_operator = dialect in ("rspql", "sparqlstream") and self.chance(50)
        operator = f"{self.choose(*OPERATORS).upper()} " if has_operator else ""
        body = f"{dataset} {{ {where} }}"
        match self.choose("all", "some", "some", "distinct", "grouped", "grouped", "ordered", "other"):
            case "some":
                text = f"SELECT {operator}{self.projection(scope)[0]} {body}{self._aggregate_clause(dialect, scope)}"
            case "distinct":
                text = f"SELECT {operator}DISTINCT {self.projection(scope)[0]} {body}"
            case "grouped":
                text = self._with_operator(self.grouped(scope, body)[0], operator)
            case "ordered":
                text = self._with_operator(self.ordered(scope, dataset, where)[0], operator)
            case "other":
                return self._other_form(dialect, scope, body, operator)
            case _:
                text = f"SELECT {operator}* {body}{self._aggregate_clause(dialect, scope)}"
        return f"{text} {self.values(scope)}" if self.chance(5) and "ORDER" not in text else text

    def _with_operator(self, text: str, operator: str) -> str:
        return text.replace("SELECT ", f"SELECT {operator}", 1)

    def _aggregate_clause(self, dialect: str, scope: list[str]) -> str:
        """C-SPARQL's AGGREGATE: every solution gets the aggregate over its group."""
        if dialect != "csparql" or not scope or not self.chance(25):
            return ""
        keys = ", ".join(dict.fromkeys(self.several(lambda: self.choose(*scope), 1, 2)))
        variable = self.new_variable()
        function = self.choose("COUNT", f"COUNT({self.choose(*scope)})", *(["SUM(?n)", "MAX(?n)"] * ("?n" in scope)))
        condition = f" FILTER ({variable} > {self.choose(0, 1, 2)})" if self.chance(50) else ""
        return f" AGGREGATE {{ ({variable}, {function}, {{{keys}}}){condition} }}"

    def _other_form(self, dialect: str, scope: list[str], body: str, operator: str) -> str:
        match self.choose("ask", "construct", "construct", "describe"):
            case "ask":
                return f"ASK {body}"
            case "describe":
                return f"DESCRIBE {self.choose(':a', '*', self.any_variable(scope))} {body}"
        subject, target = self.choose("[]", ":a", *scope), self.choose("1", "_:new", *scope)
        triples = f"{subject} {self.choose(':made', '?r')} {target}"
        if self.chance(30):
            triples += f" . {self.any_variable(scope)} :also [ :of {self.any_variable(scope)} ]"
        if dialect == "rspql" and self.chance(20):
            triples = f"GRAPH {self.choose(':g', '?a')} {{ {triples} }}"
        return f"CONSTRUCT {operator}{{ {triples} }} {body}"
